package weir.runtime

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.*

/** The times at which the watch looks, and the threads that wake it. */
class WatchSuite extends WeirSuite:

  test("the watch sleeps when no fiber runs, and is awake while one does"):
    val runtime = WeirRuntime.make(2, 64)
    val watch = runtime.scheduler.watch
    for _ <- 1 to 2 do
      val asleep = Task(watch.isAsleep).start.flatMap(_.joinOrFail).runSync()(using runtime)
      assert(!asleep)
      eventually("the watch is asleep")(watch.isAsleep)

  test(
    "a fiber that begins to run brings the watch's clock up to date, also where it looks seldom"
  ):
    val released = CountDownLatch(1)
    given runtime: WeirRuntime = WeirRuntime.make(2, 64)
    val blocked = Task(released.await()).start.runSync()
    val watch = runtime.scheduler.watch
    eventually("the watch looks seldom")(watch.isSlow)
    val before = Watch.now
    Task.cede.start.flatMap(_.join).runSync(): Unit
    assert(watch.ticks - before >= 0, s"the clock is at ${watch.ticks}, it was $before before")
    released.countDown()
    blocked.join.runSync(): Unit

  private final class Here(at: => Thread) extends ExecutionThread(WeirRuntime.default.scheduler):
    def thread = at
    def pooled = true
    def preferredShard = 0

  /** Returns the time until an execution thread is seen that begins to run just when the watch asks
    * for the `n`-th time which threads run, too late to be in the answer. All others are blocked.
    */
  private def seenAfter(n: Int): FiniteDuration =
    val seen = CountDownLatch(1)
    val blocked = Here(Thread.ofPlatform().unstarted(() => ()))
    val newcomer = Here {
      seen.countDown() // read at the second look: the first one finds that it is new
      Thread.ofPlatform().unstarted(() => ())
    }
    var asked = 0
    var running = List(blocked)
    var begun = 0L
    lazy val watch: Watch = Watch(
      () => {
        val told = running
        asked += 1
        if asked == n then
          running = List(blocked, newcomer)
          begun = System.nanoTime()
          watch.wake()
        told.iterator
      },
      Spins(SpinListener.Silent)
    )
    watch.wake()
    await(seen)
    (System.nanoTime() - begun).nanos

  test("a thread that begins to run just when the watch gets slow is seen at once"):
    for n <- Tuning.idleLooks to Tuning.idleLooks + 2 do
      val rounds = LazyList.continually(seenAfter(n)).take(4)
      assert(rounds.exists(_ < 500.millis), s"begun at look $n: $rounds")

  test("where no thread can be started, fibers go on, and a second later another start is tried"):
    val seen = CountDownLatch(1)
    val threads = RefusesFirst()
    var now = 0L
    val watch = Watch(
      () =>
        seen.countDown()
        Iterator()
      ,
      Spins(SpinListener.Silent),
      threads,
      threadShortage = ThreadShortage(() => now)
    )
    watch.wake()
    watch.wake()
    assert(watch.isAsleep)
    assertEquals(threads.asked, 1)
    now += Tuning.threadRetryNanos
    watch.wake()
    assertEquals(threads.asked, 1)
    now += 2
    watch.wake()
    await(seen)
    assertEquals(threads.asked, 2)
