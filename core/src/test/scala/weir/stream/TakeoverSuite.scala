package weir
package stream

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import org.scalacheck.Gen
import org.scalacheck.Prop.forAllNoShrink
import scala.concurrent.duration.*
import weir.group.HelperRequests
import weir.runtime.{Job, Scheduler, SystemTimers}

/** Effects of a `parEvalMap` pass from its consumer to runners: runners that come late or not at
  * all, and at random.
  */
class TakeoverSuite extends munit.ScalaCheckSuite, InPlaceTests:
  private val boom = Boom()

  /** Holds the next job that the thread `holds` queues. */
  private final class Holding extends Scheduler(2, 16):
    val holds = AtomicReference[Thread | Null](null)
    val held = AtomicReference[Job | Null](null)
    @volatile var andThen: () => Unit = () => ()

    override def submit(job: Job, preferredShard: Int): Unit =
      if holds.compareAndSet(Thread.currentThread, null) then
        held.set(job)
        andThen()
      else super.submit(job, preferredShard)

  test("a close waits for the runner of an effect that was handed over, and that does not begin"):
    val scheduler = Holding()
    given WeirRuntime = WeirRuntime(scheduler, SystemTimers(), null)
    val began = AtomicBoolean()
    val others = CountDownLatch(3) // so no runner is on its way
    val consumer = AtomicReference[weir.fiber.TaskFiber | Null](null)
    scheduler.andThen = () => consumer.get.nn.requestCancel()
    val scene = Scene(4) {
      case 0 =>
        await(others)
        scheduler.holds.set(Thread.currentThread)
        Task.cede.andThen(Task(began.set(true))).andThen(Task.never)
      case _ => Task(others.countDown()).andThen(Task.never)
    }
    val consuming = ownFiber.flatMap { own =>
      consumer.set(own)
      scene.results.drain
    }
    val fiber = consuming.start.runSync()
    def waitsMasked =
      val wait = if scheduler.held.get eq null then null else consumer.get.nn.suspendedIn
      (wait ne null) && !wait.nn.cancelable
    eventually("it waits for the runner")(waitsMasked || ended(fiber))
    assert(!ended(fiber))
    scheduler.submit(scheduler.held.get.nn)
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assert(!began.get)

  test("an effect that goes on after its interrupt is not handed over once another one has failed"):
    val began = AtomicBoolean()
    val scene = Scene(4) {
      case 0 =>
        try CountDownLatch(1).await()
        catch case _: InterruptedException => () // `intercept` does not catch it
        Task.cede.andThen(Task(began.set(true))).andThen(Task.never)
      case _ => Task.fail(boom)
    }
    assertEquals(scene.results.drain.attempt.runSync(), Left(boom))
    assert(!began.get)

  test("an effect whose runner gets no fiber fails the stream"):
    val scheduler = RefusingScheduler()
    given WeirRuntime = WeirRuntime(scheduler, SystemTimers(), null)
    val others = CountDownLatch(3) // so no runner is on its way
    val scene = Scene(4) {
      case 0 =>
        await(others)
        scheduler.refuseNextFromHere()
        Task.cede.as(0)
      case _ => Task(others.countDown()).andThen(Task.never)
    }
    scene.results.drain.attempt.start.flatMap(_.joinOrFail).runSync() match
      case Left(_: RefusingScheduler.Refused) => ()
      case other => fail(s"$other")

  /** Its slots are taken once `isFull` is set. */
  private final class Slots extends WeirRuntime(Scheduler(2, 16), SystemTimers(), null):
    @volatile var isFull = false
    override private[weir] val helperRequests: HelperRequests = new HelperRequests():
      override def delay(shard: Int, group: HelperRequests.Requester): Int =
        if isFull then -1 else super.delay(shard, group)

  test("without a slot for the delayed request, nothing runs in place"):
    val slots = Slots()
    given WeirRuntime = slots
    slots.isFull = true
    val scene = Scene(2)(Task.pure)
    val got = scene.stream.take(1000).toList.start.flatMap(_.joinOrFail).runSync()
    assertEquals(got, List.fill(1000)(-1))

  test("where no slot is left to go back to, effects that block next have a helper"):
    val slots = Slots()
    given WeirRuntime = slots
    val both = CountDownLatch(2)
    val quick = 100_000
    val scene = Scene(2)(i =>
      slots.isFull = true
      Task {
        if i >= quick then
          both.countDown()
          await(both)
        i
      }
    )
    val got = scene.results.drop(quick).take(9).toList.start.flatMap(_.joinOrFail).runSync()
    assertEquals(got, List.range(quick, quick + 9))

  private def work(kind: Int): Task[Unit] = kind match
    case 0 => Task.cede
    case 1 => Task.sleep(50.micros)
    case 2 => Task(Thread.sleep(0, 50_000))
    case 3 => Task.cede.andThen(Task.unit).map(identity)
    case _ => Task(())

  /** Mostly ready effects, with some that suspend, block or fail. */
  private val programs =
    for
      size <- Gen.choose(0, 300)
      kinds <- Gen.listOfN(size, Gen.choose(0, 40))
      fails <- Gen.frequency(3 -> Gen.const(-1), 1 -> Gen.choose(0, 300))
      limit <- Gen.choose(1, 6)
      buffer <- Gen.choose(0, 9)
      take <- Gen.frequency(3 -> Gen.const(1000), 1 -> Gen.choose(0, 300))
    yield (kinds, fails, limit, buffer, take)

  property("random effects: results in order, none lost, at most as many at a time as may") {
    forAllNoShrink(programs) { (kinds, fails, limit, buffer, take) =>
      val running = AtomicInteger()
      val tooMany = AtomicBoolean()
      def effect(kind: Int, i: Int): Task[Int] =
        if i == fails then Task.fail(boom)
        else if kind > 3 then
          Task {
            if running.get >= limit + 1 then tooMany.set(true)
            i
          }
        else
          Task {
            if running.incrementAndGet() > limit then tooMany.set(true)
          }.bracket(_ => work(kind))(_ => Task(running.decrementAndGet()).void).as(i)
      val stream = Stream.emits(kinds.zipWithIndex).map((kind, i) => kind * 1000 + i)
      val all = parEvalMap(stream, limit, buffer)(n => effect(n / 1000, n % 1000))
      val got = seen(all.take(take)).runSync()
      val numbers = got.takeWhile(_ != boom)
      assertEquals(numbers, List.range(0, numbers.size))
      val most = math.min(kinds.size, take)
      val mayFail = fails >= 0 && fails < kinds.size
      if got.contains(boom) then
        assert(mayFail)
        assert(numbers.size <= fails)
      else assert(numbers.size == most && !(mayFail && fails < most), s"${numbers.size} of $most")
      assert(!tooMany.get)
      assertEquals(running.get, 0)
    }
  }

  test("cancels at random moments: effects end before the source is closed, and nothing hangs"):
    val random = java.util.Random(Integer.getInteger("weir.stress.seed", 1).toLong)
    val rounds = Tier(300, 100_000)
    for _ <- 1 to rounds do
      val running = AtomicInteger()
      val late = AtomicBoolean()
      val pulls = AtomicInteger()
      def effect(i: Int): Task[Int] = i % 37 match
        case 5 => held(Task.sleep(20.micros)).as(i)
        case 11 => held(Task(Thread.sleep(0, 20_000))).as(i)
        case 23 if i > 200 => held(Task.never).as(i)
        case _ => Task(i)
      def held(task: Task[Unit]): Task[Unit] =
        Task(running.incrementAndGet()).bracket(_ => task)(_ =>
          Task(running.decrementAndGet()).void
        )
      val source = endless.map { i =>
        pulls.incrementAndGet()
        i
      }
      val all = parEvalMap(source, 1 + random.nextInt(4), random.nextInt(9))(effect).drain
      val pause = random.nextInt(400)
      val task = all
        .guarantee(Task { if running.get != 0 then late.set(true) })
        .start
        .flatMap(fiber => Task.sleep(pause.micros) >> fiber.cancel >> fiber.join)
      assertEquals(task.runSync(), Outcome.Canceled)
      assert(!late.get && running.get == 0)
