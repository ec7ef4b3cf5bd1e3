package weir

import java.util.SplittableRandom
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import scala.concurrent.duration.*

/** Takes a value inside of a poll and keeps it behind the poll, in a mask. By the rules of Cats
  * Effect no cancel can fall in between, however many masks and finalizers are inside of the poll.
  */
object MaskedRigs:
  def all: List[() => PrimitiveRig] = List(
    () => MaskedQueueRig("bounded(2)", Queue.bounded(2)),
    () => MaskedQueueRig("synchronous", Queue.synchronous),
    () => MaskedQueueRig("unbounded", Queue.unbounded),
    () => MaskedSemaphoreRig(1),
    () => MaskedSemaphoreRig(3),
    () => MaskedMutexRig(),
    () => MaskedResourceRig(),
    () => RefSemaphoreRig(1),
    () => RefSemaphoreRig(3),
    () => RefSemaphoreRig(20_000),
    () => RefQueueRig(1),
    () => RefQueueRig(3)
  )

  /** Runs for a while, on the carrier or off it. */
  def letRun(random: SplittableRandom): Task[Unit] = random.nextInt(4) match
    case 0 => Task.unit
    case 1 => Task.foreach(1 to random.nextInt(1, 20))(_ => Task.cede)
    case 2 => Task.sleep(random.nextInt(1, 100).micros)
    case _ =>
      Task {
        val until = System.nanoTime() + random.nextInt(30_000)
        while System.nanoTime() < until do Thread.onSpinWait()
      }

private abstract class MaskedRig(name: String) extends PrimitiveRig(s"masked $name"):
  private val spare = Semaphore.unsafe(1_000)
  private val opened = AtomicInteger()
  private val resource =
    Resource.make(Task(opened.incrementAndGet()))(_ => Task(opened.decrementAndGet()).void)

  /** `keep` of the value of `task`: always if `task` has a value, and never if it was cancelled. */
  final protected def kept[A](task: Task[A], random: SplittableRandom)(
      keep: A => Task[Unit]
  ): Task[Unit] =
    if random.nextInt(8) == 0 then inFiber(task, random)(keep)
    else
      Task.uncancelable(poll =>
        poll(wrapped(task, random.nextInt(4), random)).flatMap(a =>
          keep(a).flatMap(_ => sometimes(random))
        )
      )

  /** Of a fiber that ends with `task`: the value is its outcome, however late the cancel comes. */
  private def inFiber[A](task: Task[A], random: SplittableRandom)(
      keep: A => Task[Unit]
  ): Task[Unit] =
    Task.uncancelable { poll =>
      wrapped(task, random.nextInt(4), random).start.flatMap { fiber =>
        val end = fiber.join.flatMap {
          case Outcome.Succeeded(a) => keep(a)
          case Outcome.Failed(error) => Task(wrong(s"failed with $error"))
          case Outcome.Canceled => Task.unit
        }
        if random.nextBoolean() then sometimes(random).andThen(fiber.cancel).andThen(end)
        else poll(fiber.join).onCancel(fiber.cancel.andThen(end)).andThen(end)
      }
    }

  /** `task` inside of masks and finalizers, all of which hand its value on, and none of which keeps
    * a cancel from it.
    */
  private def wrapped[A](task: Task[A], depth: Int, random: SplittableRandom): Task[A] =
    if depth == 0 then task
    else
      val inner = wrapped(task, depth - 1, random)
      val after = sometimes(random)
      random.nextInt(10) match
        case 0 => inner.guarantee(after)
        case 1 => inner.onCancel(after)
        case 2 => Task.uncancelable(poll => poll(inner))
        case 3 => Task.uncancelable(poll => poll(inner).flatMap(a => after.as(a)))
        case 4 => Task.uncancelable(poll => poll(poll(inner).guarantee(after)))
        case 5 => Task.bracket(after)(_ => inner)(_ => after)
        case 6 => resource.use(_ => inner)
        case 7 => spare.withPermit(inner)
        case 8 => inner.handleErrorWith(Task.fail)
        case _ => Task.uncancelable(poll => poll(inner).onCancel(after).guarantee(after))

  final def finish()(using WeirRuntime): Unit =
    expect("permits around", spare.available.runSync(), 1_000L)
    expect("resources around", opened.get, 0)
    conserved()

  /** As `finish`, for the values of this rig. */
  protected def conserved()(using WeirRuntime): Unit

/** Items in = items out. */
private abstract class ItemRig(name: String) extends MaskedRig(name):
  private val numbers, sent, received, sentSum, receivedSum = AtomicLong()

  protected def offer(number: Long): Task[Unit]
  protected def take: Task[Long]
  protected def size: Task[Int]

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    if id % 2 == 0 then
      Task.defer {
        val number = numbers.incrementAndGet()
        kept(offer(number), random)(_ => Task(count(sent, sentSum, number)))
      }
    else kept(take, random)(number => Task(count(received, receivedSum, number)))

  private def count(items: AtomicLong, sum: AtomicLong, number: Long): Unit =
    items.incrementAndGet(): Unit
    sum.addAndGet(number): Unit

  protected def conserved()(using WeirRuntime): Unit =
    while size.runSync() > 0 do count(received, receivedSum, take.runSync())
    if sent.get == 0 then wrong("nothing was sent")
    expect("items out", received.get, sent.get)
    expect("sum of the items out", receivedSum.get, sentSum.get)

private final class MaskedQueueRig(name: String, make: Task[Queue[Long]])
    extends ItemRig(s"Queue.$name"):
  private val queue = make.runSync()
  protected def offer(number: Long): Task[Unit] = queue.offer(number)
  protected def take: Task[Long] = queue.take
  protected def size: Task[Int] = queue.size

private final class RefQueueRig(capacity: Int) extends ItemRig(s"RefQueue($capacity)"):
  private val queue = RefQueue[Long](capacity)
  protected def offer(number: Long): Task[Unit] = queue.offer(number)
  protected def take: Task[Long] = queue.take
  protected def size: Task[Int] = queue.size

/** Permits that are taken are given back: no more and no less. */
private abstract class PermitRig(name: String, permits: Int) extends MaskedRig(name):
  private val inside = AtomicInteger()

  protected def acquire(n: Int): Task[Unit]
  protected def release(n: Int): Task[Unit]
  protected def within(body: Task[Unit]): Task[Unit]
  protected def available: Task[Long]

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val n = 1 + random.nextInt(permits)
    if random.nextInt(3) == 0 then
      val body = Task.bracket(Task(enter(1)))(_ => sometimes(random))(_ => Task(leave(1)))
      kept(within(body), random)(_ => Task.unit)
    else
      kept(acquire(n), random)(_ =>
        Task(enter(n)).andThen(sometimes(random)).andThen(Task(leave(n))).andThen(release(n))
      )

  private def enter(n: Int): Unit =
    val now = inside.addAndGet(n)
    if now > permits then wrong(s"$now permits are taken")

  private def leave(n: Int): Unit = inside.addAndGet(-n): Unit

  protected def conserved()(using WeirRuntime): Unit =
    expect("permits", available.runSync(), permits.toLong)
    expect("inside", inside.get, 0)

private final class MaskedSemaphoreRig(permits: Int)
    extends PermitRig(s"Semaphore($permits)", permits):
  private val semaphore = Semaphore.unsafe(permits)
  protected def acquire(n: Int): Task[Unit] = semaphore.acquireN(n)
  protected def release(n: Int): Task[Unit] = semaphore.releaseN(n)
  protected def within(body: Task[Unit]): Task[Unit] = semaphore.withPermit(body)
  protected def available: Task[Long] = semaphore.available

private final class RefSemaphoreRig(permits: Int)
    extends PermitRig(s"RefSemaphore($permits)", permits):
  private val semaphore = RefSemaphore(permits)
  protected def acquire(n: Int): Task[Unit] = semaphore.acquireN(n)
  protected def release(n: Int): Task[Unit] = semaphore.releaseN(n)
  protected def within(body: Task[Unit]): Task[Unit] = semaphore.withPermit(body)
  protected def available: Task[Long] = semaphore.available

/** Counts inside of the lock and behind it: both counts must be the same. */
private final class MaskedMutexRig extends MaskedRig("Mutex"):
  private val mutex = Mutex.unsafe()
  private var count = 0L // guarded by the mutex
  private val done = AtomicLong()

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val next = Task(count + 1).flatTap(_ => sometimes(random)).map { next =>
      count = next
      next
    }
    kept(mutex.withLock(Task.uncancelable(_ => next)), random)(_ =>
      Task(done.incrementAndGet()).void
    )

  protected def conserved()(using WeirRuntime): Unit =
    expect("entries", count, done.get)
    expect("locked", mutex.isLocked.runSync(), false)

/** Checks that each opened resource is closed, once. */
private final class MaskedResourceRig extends MaskedRig("Resource"):
  private final class Handle:
    private val closed = AtomicInteger()
    def close(): Unit =
      if closed.incrementAndGet() != 1 then wrong("closed twice")
      closes.incrementAndGet(): Unit
    def use(): Unit = if closed.get != 0 then wrong("used, and closed")
  private val opens, closes = AtomicLong()

  private def open(random: SplittableRandom): Resource[Handle] =
    Resource.make(Task { opens.incrementAndGet(); Handle() }.flatTap(_ => sometimes(random)))(
      handle => sometimes(random).andThen(Task(handle.close()))
    )

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val used = (handle: Handle) => sometimes(random).andThen(Task(handle.use()))
    val both =
      open(random).flatMap(outer => open(random).evalTap(used).map(inner => (outer, inner)))
    random.nextInt(3) match
      case 0 => kept(open(random).use(used), random)(_ => Task.unit)
      case 1 => kept(both.use((a, b) => used(a).andThen(used(b))), random)(_ => Task.unit)
      case _ =>
        kept(both.allocated, random) { case ((a, b), release) =>
          used(a).andThen(used(b)).andThen(release)
        }

  protected def conserved()(using WeirRuntime): Unit =
    if opens.get == 0 then wrong("nothing was opened")
    expect("closed", closes.get, opens.get)
