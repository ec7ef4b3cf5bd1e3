package weir
package stream

import scala.concurrent.duration.*
import weir.fiber.{DirectCode, FiberCore, Suspend, TaskFiber}
import weir.runtime.Alarm
import weir.testkit.TestRuntime

class WaitSlotSuite extends StreamTests:

  /** Numbers that go from fiber to fiber one by one. */
  private final class Cell:
    val lock = StageLock()
    val taker, putter = WaitSlot(lock)
    private var value = 0

    def put(number: Int): Task[Any] = until(putter) {
      if value != 0 then WaitSlot.Nothing
      else
        value = number
        taker.wake()
    }

    val take: Task[Any] = until(taker) {
      val taken = value
      value = 0
      putter.wake()
      if taken == 0 then WaitSlot.Nothing else taken
    }

    private def until(slot: WaitSlot)(look: => Any): Task[Any] =
      val ask = new Suspend[Any]:
        def begin(fiber: TaskFiber): Any = WaitSlot.lookOrWait(lock, slot, fiber)(look)
      DirectCode(fiber => WaitSlot.repeat(fiber.await(ask)))

    /** Gives `number` to the fiber that waits for one. */
    def give(number: Int): Task[Boolean] =
      DirectCode(fiber => lock.locked(fiber)(taker.give(number)))

  private def waiting(task: Task[Any]): Fiber[Any] =
    val fiber = task.start.runSync()
    eventually("it waits")(fiber match
      case core: FiberCore => core.suspendedIn ne null
      case _ => false)
    fiber

  test("no change is lost between a look and the wait after it"):
    val cell = Cell()
    val count = 20_000
    val takesAll = Stream.repeatEval(cell.take).take(count).map(_.asInstanceOf[Int].toLong)
    val puts = Stream.range(1, count + 1).evalMap(cell.put).drain
    val sum = puts.start.flatMap(fiber => takesAll.fold(0L)(_ + _).guarantee(fiber.cancel))
    assertEquals(sum.runSync(), count * (count + 1L) / 2)

  test("a fiber that waits gets what is given, and does not look"):
    val cell = Cell()
    val fiber = waiting(cell.take)
    assert(cell.give(7).runSync())
    assertEquals(fiber.join.runSync(), Outcome.Succeeded(7))

  test("nobody gets what is given where nobody waits, or a cancel has ended the wait"):
    val cell = Cell()
    assert(!cell.give(7).runSync())
    waiting(cell.take).cancel.runSync()
    assert(!cell.give(7).runSync())

  test("after a cancelled wait the next fiber waits in the slot"):
    val cell = Cell()
    waiting(cell.take).cancel.runSync()
    val fiber = waiting(cell.take)
    cell.put(5).runSync(): Unit
    assertEquals(fiber.join.runSync(), Outcome.Succeeded(5))

  /** Looks, until a time after a second or a wake-up, how often it has been asked to. */
  private final class Looks:
    val lock = StageLock()
    val slot = WaitSlot(lock)
    @volatile var count = 0
    @volatile private var entered: WaitSlot.Timed | Null = null

    private val ask = new Suspend[Any]:
      def begin(fiber: TaskFiber): Any =
        count += 1
        val due = Alarm.due(fiber.runtime.timers, 1.second.toNanos)
        val entry = lock.locked(fiber)(slot.enterUntil(fiber, due))
        entered = entry
        entry.set()
        entry

    val once: Task[Any] = DirectCode { fiber =>
      fiber.await(ask): Unit
      entered.nn.abandon()
    }

  test("who waits until a time looks again then, or when it is woken, and leaves no alarm"):
    val looks = Looks()
    val runtime = TestRuntime()
    try
      val first = runtime.start(looks.once)
      runtime.awaitQuiet()
      assertEquals(runtime.nextAlarm, Some(1.second))
      runtime.advance(1.second)
      runtime.run(first.fiber.join): Unit
      val second = runtime.start(looks.once)
      runtime.awaitQuiet()
      runtime.run(DirectCode(fiber => looks.lock.locked(fiber)(looks.slot.wake())))
      runtime.run(second.fiber.join): Unit
      assertEquals((looks.count, runtime.nextAlarm, runtime.now), (2, None, 1.second))
    finally runtime.close()
