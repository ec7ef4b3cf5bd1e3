package weir

import scala.concurrent.duration.*
import weir.std.{CountDownLatch, CyclicBarrier}

/** Waits that are cancelled while their primitive lives on. `-Dweir.stress.operations=10000000`
  * sets the number of waits of each kind.
  */
class CancelledWaitsSuite extends StreamTests:
  private val waits =
    java.lang.Long.getLong("weir.stress.operations", Tier(10_000L, 300_000L)).longValue
  private val atOnce = 1000

  override def limit: FiniteDuration = if waits > 1_000_000 then 1.hour else 30.seconds

  private val deferred = Deferred.unsafe[Int]
  private val semaphore = Semaphore.unsafe(0)
  private val mutex = Mutex.unsafe()
  private val latch = CountDownLatch.unsafe(1)
  private val barrier = CyclicBarrier.unsafe(atOnce * 2)
  private val full = Queue.unsafe[Int](1)
  private val synchronous = Queue.synchronous[Int].runSync()
  private val unbounded = Queue.unbounded[Int].runSync()

  for (name, wait) <- List[(String, Task[Any])](
      "Deferred.get" -> deferred.get,
      "Semaphore.acquire" -> semaphore.acquire,
      "Semaphore.withPermits" -> semaphore.withPermits(2)(Task.unit),
      "Mutex.withLock" -> mutex.withLock(Task.unit),
      "CountDownLatch.await" -> latch.await,
      "CyclicBarrier.await" -> barrier.await,
      "take of an unbounded queue" -> unbounded.take,
      "offer to a full queue" -> full.offer(2),
      "offer to a synchronous queue" -> synchronous.offer(1)
    )
  do
    test(s"cancelled gets leak nothing: $name"):
      given WeirRuntime = smallRuntime()
      full.tryOffer(1).runSync(): Unit
      val holder = parked(mutex.withLock(Task.never))
      val grown = growth(for _ <- 1L to waits / atOnce do
        val fibers = (1 to atOnce).map(_ => wait.start.runSync())
        standstill()
        Task.foreach(fibers)(_.cancel).runSync())
      assert(grown < megabyte / 2, s"$grown bytes are left of $waits waits")
      holder.cancel.runSync()
