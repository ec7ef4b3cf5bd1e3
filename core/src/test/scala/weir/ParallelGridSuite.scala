package weir

import java.util.concurrent.{CancellationException, ConcurrentLinkedQueue, TimeoutException}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

/** Every concurrent operator, alone and one on top of another, however its effects and its consumer
  * end.
  */
class ParallelGridSuite extends StreamTests:
  override def limit: FiniteDuration = 30.seconds

  private type Effect = Int => Task[Int]
  private type Operator = (Stream[Int], Effect) => Stream[Int]

  private val operators = List[(String, Operator)](
    "parEvalMap" -> ((s, f) => s.parEvalMap(3)(f)),
    "parEvalMapUnordered" -> ((s, f) => s.parEvalMapUnordered(3, 1)(f)),
    "prefetchN" -> ((s, f) => s.evalMap(f).prefetchN(2)),
    "prefetchBytes" -> ((s, f) => s.evalMap(f).prefetchBytes(20)(i => 10 * i)),
    "prefetchStrict" -> ((s, f) => s.evalMap(f).prefetchStrict),
    "merge" -> ((s, f) => s.evalMap(f).merge(Stream.emits(List(100, 101)).evalTap(_ => Task.cede))),
    "parJoin" -> ((s, f) => s.map(i => Stream.eval(f(i))).parJoin(2))
  )

  private val boom = Boom("the effect's")
  private val below = Boom("the consumer's")

  private enum Bad:
    case Nothing, Fails, Throws, CancelsItself, Waits, Blocks

  private enum End:
    case ToTheEnd, TakeOne, Cancel, Timeout, BelowFails

  /** A resource that knows whether it was used after its release, or released while in use. */
  private final class Tracked:
    val acquired, released, users = AtomicInteger()
    val wrong = ConcurrentLinkedQueue[String]()

    def stream[A](body: Stream[A]): Stream[A] =
      Stream
        .bracket(Task(acquired.incrementAndGet()).void) { _ =>
          Task {
            if users.get != 0 then wrong.add(s"released with ${users.get} users"): Unit
            released.incrementAndGet()
          }.void
        }
        .flatMap(_ => body)

    def use(task: Task[Int]): Task[Int] =
      val enter = Task {
        users.incrementAndGet(): Unit
        if released.get != 0 then wrong.add("used after its release"): Unit
      }
      Task.bracket(enter)(_ => task)(_ => Task(users.decrementAndGet()).void)

  private def effect(resource: Tracked, bad: Bad): Effect = i =>
    if i != 3 then resource.use(if i % 2 == 0 then Task.pure(i) else Task.cede.as(i))
    else
      bad match
        case Bad.Nothing => resource.use(Task.pure(i))
        case Bad.Fails => resource.use(Task.cede.andThen(Task.fail(boom)))
        case Bad.Throws => throw boom
        case Bad.CancelsItself => resource.use(Task.canceled.as(i))
        case Bad.Waits => resource.use(Task.never)
        case Bad.Blocks => resource.use(Task { Thread.sleep(3_600_000); i })

  /** Runs the stream to this end, and says how it came out. */
  private def run(stream: Stream[Int], end: End)(using Runtime): Outcome[List[Int]] =
    val ends = end match
      case End.ToTheEnd => stream.toList
      case End.TakeOne => stream.take(1).toList
      case End.Timeout => stream.evalMap(_ => Task.never).toList.timeout(Tier(2, 10).millis)
      case End.BelowFails => stream.evalMap(_ => Task.fail(below)).toList
      case End.Cancel =>
        val reached = Deferred.unsafe[Unit]
        val held = stream.evalMap(_ => reached.complete(()).andThen(Task.never)).toList
        held.start.flatMap { fiber =>
          Task.race(reached.get, fiber.join).andThen(fiber.cancel).andThen(fiber.join).flatMap {
            case Outcome.Canceled => Task.canceled.as(Nil)
            case other => Task(other.get)
          }
        }
    ends.start.flatMap(_.join).runSync()

  private def expected(outcome: Outcome[List[Int]], bad: Bad, end: End, all: List[Int]): Boolean =
    outcome match
      case Outcome.Succeeded(list) if end == End.TakeOne =>
        list.size == 1 && all.contains(list.head)
      case Outcome.Succeeded(list) =>
        end == End.ToTheEnd && bad == Bad.Nothing && list.sorted == all
      case Outcome.Failed(`boom`) => bad == Bad.Fails || bad == Bad.Throws
      case Outcome.Failed(`below`) => end == End.BelowFails
      case Outcome.Failed(_: TimeoutException) => end == End.Timeout
      case Outcome.Failed(_: CancellationException) => bad == Bad.CancelsItself
      case Outcome.Failed(_) => false
      case Outcome.Canceled => bad == Bad.CancelsItself || end == End.Cancel

  /** All behaviours of the effects and of the consumer; in the short tier of two operators on top
    * of each other every third: `part` says from which on.
    */
  private def grid(all: List[Int], around: Boolean, part: Option[Int] = None)(
      make: Stream[Int] => (Effect, Effect) => Stream[Int]
  ): Unit =
    var runtime = smallRuntime()
    val cells = for
      badSecond <- List(false, true)
      bad <- Bad.values
      end <- End.values
    yield (badSecond, bad, end)
    val wrong = for
      ((badSecond, bad, end), number) <- cells.zipWithIndex
      if Tier.isLong || part.forall(_ % 3 == number % 3)
      if end != End.ToTheEnd || (bad != Bad.Waits && bad != Bad.Blocks)
      resource = Tracked()
      (first, second) = if badSecond then (Bad.Nothing, bad) else (bad, Bad.Nothing)
      effects = (effect(resource, first), effect(resource, second))
      stream =
        if around then resource.stream(make(source).tupled(effects))
        else make(resource.stream(source)).tupled(effects)
      problem <-
        try cell(stream, resource, bad, end, all)(using runtime)
        catch
          case e: munit.FailException =>
            runtime = smallRuntime() // the one that is stuck is of no more use
            Some(e.getMessage.linesIterator.take(4).mkString(" "))
    yield s"$bad${if badSecond then " in the second" else ""}, $end: $problem"
    if wrong.nonEmpty then fail(wrong.mkString(s"${wrong.size} are wrong:\n", "\n", ""))

  private def cell(stream: Stream[Int], resource: Tracked, bad: Bad, end: End, all: List[Int])(using
      runtime: Runtime
  ): Option[String] =
    val outcome = within(1.second)(run(stream, end))
    val (acquired, released, users) =
      (resource.acquired.get, resource.released.get, resource.users.get)
    val wrong = resource.wrong.asScala.headOption
    eventually("the runtime is quiet")(runtime.isQuiet)
    if !expected(outcome, bad, end, all) then Some(s"ended with $outcome")
    else if wrong.isDefined then wrong
    else
      Option.when(acquired > 1 || released != acquired || users != 0)(
        s"acquired $acquired, released $released times, $users users left"
      )

  private val source = Stream.emits(0 to 7)

  private def elements(merges: Boolean): List[Int] =
    (0 to 7).toList ++ (if merges then List(100, 101) else Nil)

  for (name, operator) <- operators do
    test(s"$name ends, leaves no fiber, and releases once after the last use"):
      val all = elements(name == "merge")
      grid(all, around = false)(s => (f, g) => operator(s.evalMap(g), f))

  for ((name, upper), i) <- operators.zipWithIndex; ((name2, lower), j) <- operators.zipWithIndex do
    test(s"$name, then $name2: ends, leaves no fiber, and releases once after the last use"):
      val merges = List(name, name2).count(_ == "merge")
      val all = ((0 to 7) ++ List.fill(merges)(List(100, 101)).flatten).toList.sorted
      // A side of a merge that has ended is released, and so before its elements are used below.
      grid(all, around = name == "merge", Some(i + j))(s => (f, g) => lower(upper(s, f), g))
