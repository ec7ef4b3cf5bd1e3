package weir

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}
import scala.concurrent.duration.*
import weir.runtime.Scheduler

/** Computing without end starves nobody. */
class FairnessSuite extends WeirSuite:

  override def limit: FiniteDuration = 30.seconds

  private val carriers = Scheduler.carriersOfThisJvm

  private def flatMapLoop(n: Int): Task[Int] = Task.pure(n + 1).flatMap(flatMapLoop)

  /** `body` while one more than the carriers runs `loop`; the loops are cancelled afterwards. */
  private def besides[A](loop: Task[Any])(body: => A): A =
    val begun = CountDownLatch(carriers + 1)
    val loops = List.fill(carriers + 1)(Task(begun.countDown()).andThen(loop).start.runSync())
    try
      await(begun)
      body
    finally Task.parTraverse(loops)(_.cancel).runSync(): Unit

  /** Median and maximum of the first round in which all came in time, or of the best of six: a
    * machine that does other work disturbs some rounds, and a scheduler that starves somebody fails
    * them all.
    */
  private def best(inTime: FiniteDuration)(
      round: => Vector[FiniteDuration]
  ): (FiniteDuration, FiniteDuration) =
    val rounds = LazyList
      .continually(round.sorted)
      .map(late => (late(late.size / 2), late.last))
      .take(6)
    rounds.find(_._2 < inTime).getOrElse(rounds.minBy(_._2))

  for (name, loop) <- List[(String, Task[Any])](
      "flatMap loops" -> flatMapLoop(0),
      "flatMap loops of delayed work" -> {
        def loop(n: Int): Task[Int] = Task.delay(n + 1).flatMap(loop)
        loop(0)
      },
      "defer loops" -> {
        def loop: Task[Int] = Task.defer(loop)
        loop
      },
      "loops that nest attempts" -> {
        def loop: Task[Int] = Task.fail(RuntimeException()).handleErrorWith(_ => loop)
        loop
      },
      "forevers of ready values" -> Task.unit.forever,
      "forevers of delayed work" -> Task.delay(()).forever,
      "forevers that cede" -> Task.cede.forever,
      "sequences of children that cede" ->
        Task.sequence(List.fill(10_000)(Task.cede.andThen(Task.unit))).forever,
      "groups of ready children" -> Task.both(Task.unit, Task.unit).forever,
      "bursts of children that block" ->
        Task.parTraverse(1 to 1000)(_ => Task(Thread.sleep(1))).forever,
      "streams" -> Stream.unfold(0)(i => Some((i, i + 1))).drain,
      "streams of effects" -> Stream.repeatEval(Task(())).drain
    )
  do
    test(
      s"row 5: carriers + 1 endless $name delay a timer by at most 50 ms"
    ):
      val (median, max) = besides(loop) {
        best(50.millis) {
          val late = Task.traverse(1 to Tier(15, 40)) { _ =>
            Task.defer {
              val begun = MachineLoad.carriersNanos()
              val due = System.nanoTime() + 5.millis.toNanos
              Task.sleep(5.millis).map(_ => MachineLoad.late(due, begun))
            }
          }
          late.start.flatMap(_.joinOrFail).runSync().toVector
        }
      }
      println(
        s"measured: timers beside $name late by ${median.toMicros} µs, at most ${max.toMicros}"
      )
      assert(max < 50.millis, s"at most $max, median $median")

  test("the user's own virtual threads run beside carriers + 1 endless loops"):
    val turns = AtomicLong()
    val (median, max) = besides(flatMapLoop(0)) {
      best(100.millis) {
        Vector.fill(20) {
          val begun = MachineLoad.carriersNanos()
          val start = System.nanoTime()
          val thread = Thread.startVirtualThread(() => turns.incrementAndGet(): Unit)
          thread.join(5000)
          MachineLoad.late(start, begun)
        }
      }
    }
    println(
      s"measured: a virtual thread beside loops in ${median.toMicros} µs, at most ${max.toMicros}"
    )
    assertEquals(turns.get % 20, 0L)
    assert(max < 100.millis, s"at most $max, median $median")

  test("on one carrier the user's virtual threads run beside endless loops, in a JVM of its own"):
    val (output, code) = WeirSuite.child(
      "weir.OneCarrierLoops",
      "-Djdk.virtualThreadScheduler.parallelism=1",
      "-Djdk.virtualThreadScheduler.maxPoolSize=1"
    )
    assertEquals((output.linesIterator.toList, code), (List("ran 100"), 0))

  test("a virtual thread of the user that yields keeps its share of the carriers"):
    val turns = AtomicLong()
    val stop = AtomicBoolean()
    val thread = Thread.startVirtualThread { () =>
      while !stop.get do
        turns.incrementAndGet(): Unit
        Thread.`yield`()
    }
    besides(flatMapLoop(0)) {
      val before = turns.get
      Task.sleep(300.millis).runSync()
      val during = turns.get - before
      stop.set(true)
      thread.join(5000)
      assert(during >= 20, s"$during turns in 300 ms")
    }

  test(
    "fibers take turns: among endless loops a new fiber ends, and none of 100 counters stands still"
  ):
    val counters = Vector.fill(100)(AtomicLong())
    def count(i: Int): Task[Unit] = Task(counters(i).incrementAndGet()).flatMap(_ => count(i))
    val loops = counters.indices.toList.map(count(_).start.runSync())
    val (_, took) = timed(Task.cede.as(1).start.flatMap(_.joinOrFail).runSync())
    eventually("every counter has moved")(counters.forall(_.get > 1000))
    Task.parTraverse(loops)(_.cancel).runSync(): Unit
    assert(took < Tier(5.seconds, 1.second), s"a new fiber took $took")

  test(
    "fibers queued behind a thunk that computes for long are run by the carriers that only loop"
  ):
    assume(carriers >= 2, "One carrier cannot run anything while a thunk computes on it.")
    for _ <- 1 to 10 do
      val stop = AtomicBoolean(false)
      val behind = CountDownLatch(20)
      val begun = CountDownLatch(carriers - 1)
      def looping: Task[Unit] =
        Task.cede.flatMap(_ => if stop.get then Task.unit else looping)
      val loops = List.fill(carriers - 1)(Task(begun.countDown()).andThen(looping).start.runSync())
      await(begun)
      val hog = Task
        .traverse(1 to 20)(_ => Task(behind.countDown()).start)
        .andThen(Task(while !stop.get do Thread.onSpinWait()))
        .start
        .runSync()
      try await(behind)
      finally
        stop.set(true)
        Task.traverse(hog :: loops)(_.join).runSync(): Unit
