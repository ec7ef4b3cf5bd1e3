package weir

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import munit.ScalaCheckSuite
import org.scalacheck.Prop.*
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** The same random program with flatMap and in direct style: equal in result and in the order of
  * effects.
  */
class DirectProgramSuite extends ScalaCheckSuite, WeirSuite:
  import DirectProgramSuite.*

  override def limit = scala.concurrent.duration.DurationInt(60).seconds

  /** A failure prints its seed, which `-Dweir.direct.seed` takes. `-Dweir.direct.runs` sets the
    * number of runs.
    */
  override def scalaCheckInitialSeed =
    System.getProperty("weir.direct.seed", Tier(Seed(1).toBase64, super.scalaCheckInitialSeed)).nn
  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(
      Integer.getInteger("weir.direct.runs", 500)
    )

  /** Runs a program. Returns its end, and its effects in order. Its `cancelAt`-th effect requests
    * the cancel of the whole.
    */
  private def run(form: World => Task[Int], cancelAt: Int): (String, List[Int]) =
    val world = World(cancelAt)
    val ended = CountDownLatch(1)
    val outcome = AtomicReference[Outcome[Int]]()
    val known = CountDownLatch(1)
    world.cancel = noticing(Task(known.await()).andThen(form(world)))
      .runAsync { result =>
        outcome.set(result); ended.countDown()
      }
    known.countDown()
    await(ended)
    val end = outcome.get match
      case Outcome.Failed(error: Expected) => s"failed ${error.number}"
      case other => s"$other"
    (end, world.log)

  private def agree(program: Program, cancelAt: Int) =
    val bound = run(bind(program, _), cancelAt)
    assertEquals(run(world => Task.direct(plain(program, world)), cancelAt), bound)
    assertEquals(run(mixed(program, _), cancelAt), bound)

  property("a program with failures gives equal results and effects"):
    forAll(programs(withChildren = true))(program => agree(program, cancelAt = -1))

  property(
    "a program that is cancelled from outside at any effect gives equal results and effects"
  ):
    // A child would go on for a moment while its parent is cancelled.
    forAll(programs(withChildren = false), Gen.choose(1, 30))(agree)

object DirectProgramSuite:
  final class Expected(val number: Int) extends RuntimeException(s"$number", null, true, false)

  /** The surroundings of a program, on which its effects act. */
  final class World(cancelAt: Int):
    @volatile var cancel: () => Unit = () => ()
    private val effects = AtomicInteger()
    private val lines = AtomicReference(List.empty[Int])
    def log: List[Int] = lines.get.reverse

    /** An effect of its own kind of task, so that all ways through the run loop come up. */
    def effect(n: Int): Task[Int] = n % 4 match
      case 0 => Task.delay(write(n))
      case 1 => Task.defer(Task.pure(write(n)))
      case 2 => Task.cede.map(_ => write(n))
      case _ =>
        Task.async[Int](done => Thread.startVirtualThread(() => done(Right(n))): Unit).map(write)

    private def write(n: Int): Int =
      lines.updateAndGet(n :: _): Unit
      if effects.incrementAndGet() == cancelAt then cancel()
      n

  enum Program:
    case Effect(n: Int)
    case Value(n: Int)
    case Fails(n: Int)
    case CancelsItself(before: Program)
    case Then(first: Program, second: Program)
    case Recovers(body: Program, handler: Program)
    case Finally(body: Program, finalizer: Int)
    case Masked(before: Program, polled: Program, after: Program)
    case Repeats(times: Int, body: Program)
    case If(condition: Program, yes: Program, no: Program)
    case Child(body: Program)
    case Each(items: List[Program])
    case Nested(body: Program)
  import Program.*

  def programs(withChildren: Boolean): Gen[Program] =
    Gen.sized(size => sized(math.min(size, 40), if withChildren then 1 else 0))

  private def sized(size: Int, children: Int): Gen[Program] =
    val leaf = Gen.frequency(
      8 -> Gen.choose(0, 100).map(Effect(_)),
      1 -> Gen.choose(0, 100).map(Value(_)),
      1 -> Gen.choose(0, 100).map(Fails(_))
    )
    if size <= 1 then leaf
    else
      val half = sized(size / 2, children)
      val third = sized(size / 3, children)
      Gen.frequency(
        1 -> leaf,
        6 -> Gen.zip(half, half).map(Then(_, _)),
        2 -> Gen.zip(half, half).map(Recovers(_, _)),
        2 -> Gen.zip(half, Gen.choose(0, 100)).map(Finally(_, _)),
        2 -> Gen.zip(third, third, third).map(Masked(_, _, _)),
        1 -> Gen.zip(Gen.choose(0, 3), half).map(Repeats(_, _)),
        1 -> Gen.zip(third, third, third).map(If(_, _, _)),
        children -> half.map(Child(_)),
        children -> Gen.listOfN(3, third).map(Each(_)),
        1 -> half.map(Nested(_)),
        1 -> half.map(CancelsItself(_))
      )

  /** Runs `form`, then an instruction that notices a cancel which came with its last effect, or
    * with its error. Without it, the style would decide which later instruction notices the cancel.
    */
  private def noticing(form: Task[Int]): Task[Int] =
    form.attempt.flatMap(end => Task.cede.andThen(end.fold(Task.fail, Task.pure)))

  /** With flatMap alone. */
  def bind(program: Program, world: World): Task[Int] =
    def go(program: Program) = bind(program, world)
    program match
      case Effect(n) => world.effect(n)
      case Value(n) => Task.pure(n)
      // Plain code that throws after a cancel is cancelled: so is an effect.
      case Fails(n) => Task.defer(Task.fail(Expected(n)))
      case CancelsItself(before) => go(before).flatMap(n => Task.canceled.as(n))
      case Then(first, second) => go(first).flatMap(a => go(second).map(b => a + b))
      case Recovers(body, handler) =>
        go(body).handleErrorWith {
          case _: Expected => go(handler)
          case other => Task.fail(other)
        }
      case Finally(body, finalizer) => go(body).guarantee(world.effect(finalizer).void)
      case Masked(before, polled, after) =>
        Task.uncancelable(poll =>
          // A block looks for a cancel before it begins: so does defer.
          go(before).flatMap(a =>
            poll(noticing(Task.defer(go(polled)))).flatMap(b => go(after).map(c => a + b + c))
          )
        )
      case Repeats(0, _) => Task.pure(0)
      case Repeats(times, body) => Task.traverse(1 to times)(_ => go(body)).map(_.sum)
      case If(condition, yes, no) =>
        go(condition).flatMap(n => if n % 2 == 0 then go(yes) else go(no))
      case Child(body) =>
        go(body).start.flatMap(_.join).flatMap {
          case Outcome.Succeeded(n) => Task.pure(n)
          case Outcome.Failed(error) => Task.fail(error)
          case Outcome.Canceled => Task.pure(-1)
        }
      case Each(items) => Task.parTraverseN(1)(items)(go).map(_.sum)
      case Nested(body) => Task.defer(go(body))

  /** The same as plain code. */
  def plain(program: Program, world: World)(using Task.Direct): Int =
    def go(program: Program)(using Task.Direct) = plain(program, world)
    program match
      case Effect(n) => world.effect(n).await
      case Value(n) => n
      case Fails(n) => throw Expected(n)
      case CancelsItself(before) =>
        val n = go(before)
        Task.canceled.await
        n
      case Then(first, second) => go(first) + go(second)
      case Recovers(body, handler) =>
        try go(body)
        catch
          case _: Expected => go(handler)
      // A finally is masked only while the fiber unwinds, so guarantee promises more than try.
      case Finally(body, finalizer) =>
        Task.direct(go(body)).guarantee(Task.direct(world.effect(finalizer).await: Unit)).await
      case Masked(before, polled, after) =>
        Task
          .uncancelable(poll =>
            Task.direct(go(before) + poll(noticing(Task.direct(go(polled)))).await + go(after))
          )
          .await
      case Repeats(times, body) =>
        var sum = 0
        var left = times
        while left > 0 do
          sum += go(body)
          left -= 1
        sum
      case If(condition, yes, no) => if go(condition) % 2 == 0 then go(yes) else go(no)
      case Child(body) =>
        Task.direct(go(body)).start.await.join.await match
          case Outcome.Succeeded(n) => n
          case Outcome.Failed(error) => throw error
          case Outcome.Canceled => -1
      case Each(items) => Task.parTraverseN(1)(items)(item => Task.direct(go(item))).await.sum
      case Nested(body) => Task.direct(go(body)).await

  /** In both styles by turns, level by level. */
  def mixed(program: Program, world: World): Task[Int] = program match
    case Then(first, second) =>
      mixed(first, world).flatMap(a => Task.direct(a + mixed(second, world).await))
    case Recovers(body, handler) =>
      Task.direct {
        try mixed(body, world).await
        catch case _: Expected => bind(handler, world).await
      }
    case Repeats(times, body) => Task.direct((1 to times).map(_ => mixed(body, world).await).sum)
    case Finally(body, finalizer) => mixed(body, world).guarantee(world.effect(finalizer).void)
    case Nested(body) => Task.direct(mixed(body, world).await)
    case other => bind(other, world)
