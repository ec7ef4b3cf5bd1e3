package weir

import java.util.SplittableRandom
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong, AtomicReference}
import scala.concurrent.duration.*
import weir.std.{CountDownLatch, CyclicBarrier}

/** The primitives under stress. A new one is a line in `all`. */
object PrimitiveRigs:
  def all: List[() => PrimitiveRig] = List(
    () => RefRig(),
    () => DeferredRig(),
    () => SemaphoreRig(1),
    () => SemaphoreRig(3),
    () => MutexRig(),
    () => LatchRig(),
    () => BarrierRig(2),
    () => BarrierRig(3),
    () => QueueRig("bounded(1)", Queue.bounded(1)),
    () => QueueRig("bounded(2)", Queue.bounded(2)),
    () => QueueRig("bounded(100)", Queue.bounded(100)),
    () => QueueRig("unbounded", Queue.unbounded),
    () => QueueRig("synchronous", Queue.synchronous),
    () => QueueRig("dropping(2)", Queue.dropping(2)),
    () => QueueRig("sliding(2)", Queue.sliding(2), slides = true),
    () => ChannelRig(0),
    () => ChannelRig(1),
    () => ChannelRig(16),
    () => ClosedChannelRig(0),
    () => ClosedChannelRig(1),
    () => ClosedChannelRig(16),
    () => KeyedMutexRig(),
    () => CacheRig("all", Duration.Inf, Int.MaxValue),
    () => CacheRig("for a moment", 20.micros, Int.MaxValue),
    () => CacheRig("two", Duration.Inf, 2),
    () => CacheRig("nothing", Duration.Zero, Int.MaxValue),
    () => RateLimiterRig(),
    () => CircuitBreakerRig()
  )

private final class RefRig extends PrimitiveRig("Ref"):
  private val ref = Ref.unsafe((0L, 0L))
  private val done = AtomicLong()

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val change =
      if random.nextBoolean() then ref.update((a, b) => (a + 1, b - 1))
      else ref.modify((a, b) => ((a + 1, b - 1), ()))
    noted(change)(_ => done.incrementAndGet(): Unit)

  def finish()(using WeirRuntime): Unit =
    expect("updates", ref.get.runSync(), (done.get, -done.get))

private final class DeferredRig extends PrimitiveRig("Deferred"):
  private final class Round(val number: Long):
    val deferred = Deferred.unsafe[Long]
  private val round = AtomicReference(Round(0))
  private val never = Deferred.unsafe[Unit]
  private val sets, rounds = AtomicLong()

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val now = round.get
    if id == 0 && random.nextInt(3) == 0 then never.get
    else if id % 2 == 0 then now.deferred.get.map(got => expect("a get", got, now.number))
    else
      Task
        .uncancelable { _ =>
          now.deferred.complete(now.number).map { first =>
            if first then sets.incrementAndGet(): Unit
            if round.compareAndSet(now, Round(now.number + 1)) then rounds.incrementAndGet(): Unit
          }
        }
        .flatMap(_ => sometimes(random))

  override def fibers: Int = 6
  override def operationsEnd: Boolean = false

  def finish()(using WeirRuntime): Unit =
    expect("completes that were the first", sets.get, rounds.get)

private final class SemaphoreRig(permits: Int) extends PrimitiveRig(s"Semaphore($permits)"):
  private val semaphore = Semaphore.unsafe(permits)
  private val inside = AtomicInteger()

  private def enter(n: Int): Unit =
    val now = inside.addAndGet(n)
    if now > permits then wrong(s"$now permits are taken")

  private def leave(n: Int): Unit = inside.addAndGet(-n): Unit

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val n = 1 + random.nextInt(permits)
    val body = Task(enter(n)).andThen(sometimes(random)).guarantee(Task(leave(n)))
    random.nextInt(5) match
      case 0 => semaphore.withPermits(n)(Task.uncancelable(_ => body))
      case 1 => semaphore.withPermit(Task { enter(1); leave(1) })
      case 2 =>
        Task.uncancelable(poll =>
          poll(semaphore.acquireN(n))
            .andThen(poll(sometimes(random)).onCancel(semaphore.releaseN(n)))
            .andThen(semaphore.releaseN(n))
        )
      case 3 =>
        Task.uncancelable(_ =>
          semaphore
            .tryAcquireN(n)
            .flatMap(taken => if taken then body.andThen(semaphore.releaseN(n)) else Task.unit)
        )
      case _ =>
        Task.bracket(Task.unit)(_ => semaphore.withPermits(n)(sometimes(random)))(_ => Task.unit)

  def finish()(using WeirRuntime): Unit =
    expect("permits", semaphore.available.runSync(), permits.toLong)
    expect("permits less those in line", semaphore.count.runSync(), permits.toLong)
    expect("inside", inside.get, 0)

private final class MutexRig extends PrimitiveRig("Mutex"):
  private val mutex = Mutex.unsafe()
  private var count = 0L // guarded by the mutex
  private val done = AtomicLong()

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    mutex.withLock(
      Task.uncancelable(_ =>
        Task(count + 1)
          .flatTap(_ => sometimes(random))
          .map { next =>
            count = next
            done.incrementAndGet(): Unit
          }
      )
    )

  def finish()(using WeirRuntime): Unit =
    expect("entries", count, done.get)
    expect("locked", mutex.isLocked.runSync(), false)

private final class LatchRig extends PrimitiveRig("CountDownLatch"):
  private val latch = AtomicReference(CountDownLatch.unsafe(2))
  private val released = AtomicLong()

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val now = latch.get
    if id % 2 == 0 then
      now.await.flatMap(_ =>
        now.count.map { missing =>
          expect("missing from an open latch", missing, 0L)
          latch.compareAndSet(now, CountDownLatch.unsafe(2))
        }
      )
    else noted(now.release)(_ => released.incrementAndGet(): Unit).flatMap(_ => sometimes(random))

  def finish()(using WeirRuntime): Unit = if released.get == 0 then wrong("nothing was released")

private final class BarrierRig(parties: Int) extends PrimitiveRig(s"CyclicBarrier($parties)"):
  private val barrier = CyclicBarrier.unsafe(parties)
  private val passed = AtomicLong()

  override def fibers: Int = parties + 2

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    noted(barrier.await)(_ => passed.incrementAndGet(): Unit)

  def finish()(using WeirRuntime): Unit =
    expect("missing", barrier.missing.runSync(), parties)
    if passed.get == 0 then wrong("no fiber has passed")

/** Items in = items out; those of one producer in order, at each consumer. */
private final class QueueRig(
    name: String,
    make: Task[Queue[(Int, Long)]],
    slides: Boolean = false
) extends PrimitiveRig(s"Queue.$name"):
  private val queue = make.runSync()
  private val producers = fibers / 2
  private val drops = name.startsWith("dropping")

  // Each is written by one fiber at a time, and read at the end.
  private val numbers = Array.fill(producers)(AtomicLong())
  private val sent, received, sentSum, receivedSum = Array.fill(producers)(AtomicLong())
  private val latest = Array.fill(fibers, producers)(AtomicLong(-1))

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    if id < producers then produce(id, random) else consume(id, random)

  private def produce(id: Int, random: SplittableRandom): Task[Unit] =
    Task.defer {
      val number = numbers(id).getAndIncrement() // one that is cancelled leaves a gap
      def note(in: Boolean): Unit =
        if in then
          sent(id).incrementAndGet()
          sentSum(id).addAndGet(number): Unit
      if drops || random.nextInt(4) == 0 then noted(queue.tryOffer((id, number)))(note)
      else noted(queue.offer((id, number)))(_ => note(true))
    }

  private def consume(id: Int, random: SplittableRandom): Task[Unit] =
    random.nextInt(8) match
      case 0 => noted(queue.tryTake)(_.foreach(receive(id, _)))
      case 1 => noted(queue.tryTakeN(3))(_.foreach(receive(id, _)))
      case _ => noted(queue.take)(receive(id, _))

  private def receive(id: Int, item: (Int, Long)): Unit =
    val (producer, number) = item
    val before = latest(id)(producer).getAndSet(number)
    if before >= number then wrong(s"$number of producer $producer came after $before")
    received(producer).incrementAndGet()
    receivedSum(producer).addAndGet(number): Unit

  override def empty()(using WeirRuntime): Unit =
    queue.tryTakeN(Int.MaxValue).runSync().foreach(receive(0, _))

  def finish()(using WeirRuntime): Unit =
    expect("size", queue.size.runSync(), 0)
    for id <- 0 until producers do
      if sent(id).get == 0 || received(id).get == 0 then wrong(s"producer $id did nothing")
      if slides then
        if received(id).get > sent(id).get then wrong(s"more came from producer $id than went in")
      else
        expect(s"items of producer $id", received(id).get, sent(id).get)
        expect(s"sum of the items of producer $id", receivedSum(id).get, sentSum(id).get)
