package weir

import java.util.concurrent.{CancellationException, ConcurrentLinkedQueue, TimeoutException}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.std.{Signal, Topic}

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

  /** An operator by itself.
    *
    * @param keeps
    *   false if elements may be dropped or repeated, and an effect cancelled for the next one
    */
  private final case class Form(
      name: String,
      operator: Operator,
      keeps: Boolean = true
  )

  private val forms = List[Form](
    Form("parEvalMap without a buffer", (s, f) => s.parEvalMap(2, 0)(f)),
    Form("parEvalMap, resized", (s, f) => s.parEvalMap(Signal.unsafe(3), 2)(f)),
    Form(
      "parEvalMapUnordered, resized as it runs",
      (s, f) =>
        Stream.eval(Signal.of(1)).flatMap { size =>
          s.parEvalMapUnordered(size, 2)(i => size.set(i % 3 + 1).andThen(f(i)))
        }
    ),
    Form("direct", (s, f) => Stream.direct(emit => for i <- s do emit(f(i).await))),
    Form(
      "direct, of fibers",
      (s, f) => Stream.direct(emit => for i <- s.parEvalMap(2)(i => f(i)) do emit(i))
    ),
    Form(
      "toSource",
      (s, f) => Stream.resource(s.evalMap(f).toSource).flatMap(x => Stream.fromSource(Task.pure(x)))
    ),
    Form(
      "uncons",
      (s, f) =>
        Stream.resource(s.evalMap(f).uncons).flatMap {
          case None => Stream.empty
          case Some((head, rest)) => rest.prepend(head)
        }
    ),
    Form("parEvalMapUnbounded", (s, f) => s.parEvalMapUnbounded(f)),
    Form("parEvalMapBy", (s, f) => s.parEvalMapBy(3, 2)(_ % 3)(f)),
    Form("parEvalMapBy, one key", (s, f) => s.parEvalMapBy(3, 0)(_ => 1)(f)),
    Form("parJoinUnbounded", (s, f) => s.map(i => Stream.eval(f(i))).parJoinUnbounded),
    Form("merge on the right", (s, f) => Stream.empty.merge(s.evalMap(f))),
    Form("mergeHaltLeft", (s, f) => s.evalMap(f).mergeHaltLeft(Stream.never)),
    Form("mergeHaltRight", (s, f) => Stream.never.mergeHaltRight(s.evalMap(f))),
    Form("mergeHaltBoth", (s, f) => s.evalMap(f).mergeHaltBoth(Stream.never)),
    Form("mergePreferred", (s, f) => s.evalMap(f).mergePreferred(Stream.empty)),
    Form("mergePreferred on the right", (s, f) => Stream.empty.mergePreferred(s.evalMap(f))),
    Form("concurrently", (s, f) => s.evalMap(f).concurrently(Stream.never)),
    Form("interruptWhen", (s, f) => s.evalMap(f).interruptWhen(Task.never)),
    Form("interruptWhenTrue", (s, f) => s.evalMap(f).interruptWhenTrue(Stream(false))),
    Form("pauseWhen", (s, f) => s.evalMap(f).pauseWhen(Stream(true, false))),
    Form("timeout", (s, f) => s.evalMap(f).timeout(1.hour)),
    Form("idleTimeout", (s, f) => s.evalMap(f).idleTimeout(1.hour)),
    Form("keepAlive", (s, f) => s.evalMap(f).keepAlive(1.hour, -1)),
    Form(
      "broadcastThrough",
      (s, f) => s.broadcastThrough(_.evalMap(f), _.drop(Long.MaxValue))
    ),
    Form("balance", (s, f) => s.balance(_.evalMap(f), _.evalMap(f))),
    Form(
      "partition",
      (s, f) => Stream.resource(s.evalMap(f).partition(_ % 2 == 0)).flatMap(_.merge(_))
    ),
    Form("prefetchN(1)", (s, f) => s.evalMap(f).prefetchN(1)),
    Form("groupWithin", (s, f) => s.evalMap(f).groupWithin(3, 1.milli).mapConcat(identity)),
    Form(
      "groupWeightedWithin",
      (s, f) => s.evalMap(f).groupWeightedWithin(7, 1.milli)(_.toLong).mapConcat(identity)
    ),
    Form("metered", (s, f) => s.evalMap(f).metered(1.nano)),
    Form("throttle", (s, f) => s.evalMap(f).throttle(1000, 1.milli, 10)),
    Form("throttleEnforcing", (s, f) => s.evalMap(f).throttleEnforcing(1, 1.nano, 1000)),
    Form("spaced", (s, f) => s.evalMap(f).spaced(1.nano)),
    Form("debounce", (s, f) => s.evalMap(f).debounce(1.nano), keeps = false),
    Form("sample", (s, f) => s.evalMap(f).sample(1.nano), keeps = false),
    Form("conflate", (s, f) => s.evalMap(f).conflate((_, b) => b), keeps = false),
    Form(
      "batch",
      (s, f) => s.evalMap(f).batch(2, _ => 1)(Vector(_))(_ :+ _).mapConcat(identity)
    ),
    Form("expand", (s, f) => s.evalMap(f).expand(Iterator.continually(_)), keeps = false),
    Form("switchMap", (s, f) => s.switchMap(i => Stream.eval(f(i))), keeps = false),
    Form("switchMap inside", (s, f) => Stream.emit(0).switchMap(_ => s.evalMap(f))),
    Form("parZip", (s, f) => s.evalMap(f).parZip(Stream.constant(0)).map(_._1)),
    Form("parZip on the right", (s, f) => Stream.constant(0).parZip(s.evalMap(f)).map(_._2)),
    Form("zipLatest", (s, f) => s.evalMap(f).zipLatest(Stream.emit(0)).map(_._1), keeps = false),
    Form("hold, discrete", (s, f) => latest(s.evalMap(f))(_.discrete), keeps = false),
    Form("hold, continuous", (s, f) => latest(s.evalMap(f))(_.continuous), keeps = false),
    Form("a topic", (s, f) => published(s.evalMap(f)))
  ) ++ Overflow.values.map(overflow =>
    val size = if overflow == Overflow.Fail then 8 else 2
    Form(
      s"buffer, $overflow",
      (s, f) => s.evalMap(f).buffer(size, overflow),
      keeps = overflow == Overflow.Fail
    )
  )

  /** The values of a signal of `stream`, up to the last element of `source`. */
  private def latest(stream: Stream[Int])(values: Signal[Int] => Stream[Int]): Stream[Int] =
    stream.hold(-1)(signal => values(signal).takeThrough(_ != 7).filter(_ >= 0))

  /** Emits the elements that a subscriber to `stream` receives. */
  private def published(stream: Stream[Int]): Stream[Int] =
    Stream.eval(Topic[Int]).flatMap { topic =>
      val publisher = stream.evalMap(topic.publish) ++ Stream.exec(topic.close)
      Stream.resource(topic.subscription(2)).flatMap(_.concurrently(publisher))
    }

  private val boom = Boom("the effect's")
  private val below = Boom("the consumer's")

  private enum Bad:
    case Nothing, Fails, Throws, CancelsItself, Waits, Blocks

  private enum End:
    case ToTheEnd, TakeNone, TakeOne, Cancel, Timeout, Interrupt, BelowFails

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

  /** Runs the stream to this end, and returns its outcome. */
  private def run(stream: Stream[Int], end: End)(using WeirRuntime): Outcome[List[Int]] =
    val ends = end match
      case End.ToTheEnd => stream.toList
      case End.TakeNone => stream.take(0).toList
      case End.TakeOne => stream.take(1).toList
      case End.Timeout => stream.evalMap(_ => Task.never).toList.timeout(Tier(2, 10).millis)
      case End.Interrupt =>
        stream.evalMap(_ => Task.never).interruptWhen(Task.sleep(Tier(2, 10).millis)).toList
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

  private def expected(
      outcome: Outcome[List[Int]],
      bad: Bad,
      end: End,
      all: List[Int],
      keeps: Boolean
  ): Boolean =
    outcome match
      case Outcome.Succeeded(list) if end == End.TakeNone || end == End.Interrupt => list.isEmpty
      case Outcome.Succeeded(list) if end == End.TakeOne =>
        list.size == 1 && all.contains(list.head)
      case Outcome.Succeeded(list) if !keeps => end == End.ToTheEnd && list.forall(all.contains)
      case Outcome.Succeeded(list) =>
        end == End.ToTheEnd && bad == Bad.Nothing && list.sorted == all
      case Outcome.Failed(`boom`) => bad == Bad.Fails || bad == Bad.Throws
      case Outcome.Failed(`below`) => end == End.BelowFails
      case Outcome.Failed(_: TimeoutException) => end == End.Timeout
      case Outcome.Failed(_: CancellationException) => bad == Bad.CancelsItself
      case Outcome.Failed(_) => false
      case Outcome.Canceled => bad == Bad.CancelsItself || end == End.Cancel

  /** Checks all behaviours of the effects and of the consumer. In the short tier, if `part` is
    * given, checks only every `parts`-th one, beginning with that.
    */
  private def grid(
      all: List[Int],
      around: Boolean,
      part: Option[Int] = None,
      parts: Int = 3,
      keeps: Boolean = true
  )(
      make: Stream[Int] => (Effect, Effect) => Stream[Int]
  ): Unit =
    var runtime = silentRuntime()
    val cells = for
      badSecond <- List(false, true)
      bad <- Bad.values
      end <- End.values
    yield (badSecond, bad, end)
    val wrong = for
      ((badSecond, bad, end), number) <- cells.zipWithIndex
      if Tier.isLong || part.forall(_ % parts == number % parts)
      if end != End.ToTheEnd || (bad != Bad.Waits && bad != Bad.Blocks)
      resource = Tracked()
      (first, second) = if badSecond then (Bad.Nothing, bad) else (bad, Bad.Nothing)
      effects = (effect(resource, first), effect(resource, second))
      stream =
        if around then resource.stream(make(source).tupled(effects))
        else make(resource.stream(source)).tupled(effects)
      problem <-
        try cell(stream, resource, bad, end, all, keeps)(using runtime)
        catch
          case e: munit.FailException =>
            runtime = silentRuntime() // the one that is stuck is of no more use
            Some(e.getMessage.linesIterator.take(4).mkString(" "))
    yield s"$bad${if badSecond then " in the second" else ""}, $end: $problem"
    if wrong.nonEmpty then fail(wrong.mkString(s"${wrong.size} are wrong:\n", "\n", ""))

  private def cell(
      stream: Stream[Int],
      resource: Tracked,
      bad: Bad,
      end: End,
      all: List[Int],
      keeps: Boolean
  )(using runtime: WeirRuntime): Option[String] =
    val outcome = within(10.seconds)(run(stream, end))
    val (acquired, released, users) =
      (resource.acquired.get, resource.released.get, resource.users.get)
    val wrong = resource.wrong.asScala.headOption
    eventually("the runtime is quiet")(runtime.isQuiet)
    if !expected(outcome, bad, end, all, keeps) then Some(s"ended with $outcome")
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

  for (form, i) <- forms.zipWithIndex do
    test(s"${form.name} ends, leaves no fiber, and releases once after the last use"):
      grid(elements(merges = false), around = false, Some(i), parts = 5, keeps = form.keeps) {
        s => (f, g) =>
          form.operator(s.evalMap(g), f)
      }

  for ((name, upper), i) <- operators.zipWithIndex; ((name2, lower), j) <- operators.zipWithIndex do
    test(s"$name, then $name2: ends, leaves no fiber, and releases once after the last use"):
      val merges = List(name, name2).count(_ == "merge")
      val all = ((0 to 7) ++ List.fill(merges)(List(100, 101)).flatten).toList.sorted
      // A side of a merge that has ended is released, and so before its elements are used below.
      grid(all, around = name == "merge", Some(i + j))(s => (f, g) => lower(upper(s, f), g))
