package weir.runtime

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import weir.WeirSuite

/** What the standby does with a job that is not needed yet, and where there is no slot for it. */
class WorkerSuite extends WeirSuite:

  /** Says `Later` so many times, and then `last`. */
  private final class Asked(later: Int, last: Int) extends Job:
    val times = AtomicInteger()
    val ran = CountDownLatch(1)
    override def need: Int = if times.incrementAndGet() <= later then Job.Later else last
    def runSlice(host: Host): Unit = ran.countDown()

  /** Holds its carrier until `released`. */
  private final class Holds(begun: CountDownLatch, released: CountDownLatch) extends Job:
    def runSlice(host: Host): Unit =
      begun.countDown()
      while released.getCount > 0 do Thread.onSpinWait()

  private def needed() = Asked(0, Job.Now)

  test("a job that is not needed yet is asked again until it is, and then run"):
    val job = Asked(5, Job.Now)
    Scheduler(1, 16).submit(job)
    await(job.ran)
    assertEquals(job.times.get, 6)

  test("a job that has turned out to be needless is dropped, and the next one is run"):
    val scheduler = Scheduler(1, 16)
    val job = Asked(5, Job.Never)
    scheduler.submit(job)
    eventually("it has been asked, and nobody works any more")(
      job.times.get == 6 && scheduler.isQuiet
    )
    val next = needed()
    scheduler.submit(next)
    await(next.ran)
    assertEquals((job.times.get, job.ran.getCount), (6, 1L))

  test("a job that is never needed by itself is run as soon as something else is queued"):
    val scheduler = Scheduler(1, 16)
    val job = Asked(Int.MaxValue, Job.Now)
    scheduler.submit(job)
    eventually("it is asked again and again")(job.times.get > 100)
    assertEquals(job.ran.getCount, 1L)
    val other = needed()
    scheduler.submit(other)
    await(job.ran)
    await(other.ran)

  test("a standby for which there is no slot looks for one once in 200 µs, and burns no carrier"):
    assume(Scheduler.carriersOfThisJvm >= 2, "With one carrier the standby runs only in between.")
    val looks = AtomicInteger()
    val scheduler = new Scheduler(1, 16):
      override def claimSlot(worker: Worker): Int =
        looks.incrementAndGet(): Unit
        super.claimSlot(worker)
    val begun, released = CountDownLatch(1)
    val queued = needed()
    scheduler.submit(Holds(begun, released))
    begun.await()
    scheduler.submit(queued)
    val many = 1000
    val (_, took) = timed(eventually(s"looks: ${looks.get}")(looks.get >= many))
    released.countDown()
    await(queued.ran)
    // Rests that follow later than 500 µs after the one before are short, so four looks take that long at least.
    val least = many * Tuning.yieldAfterNanos / 2 / Tuning.shortRests
    assert(took.toNanos >= least, s"$many looks took $took, which should be ${least / 1000} µs")
    println(s"measured: $many looks for a slot in ${took.toMillis} ms")
