package weir
package stream

import java.util.concurrent.CountDownLatch
import weir.fiber.{CancelSelf, DirectCode, TaskFiber}

class ProducerFiberSuite extends StreamTests:

  private final class Telling(body: TaskFiber => Boolean) extends ProducerFiber:
    @volatile var told = List.empty[Terminal]
    protected def work(fiber: TaskFiber): Boolean = body(fiber)
    protected def tell(terminal: Terminal, fiber: TaskFiber): Unit = told = terminal :: told

    val whole: Task[Unit] = DirectCode { fiber =>
      begin(fiber)
      join(fiber)
    }

  private def told(body: TaskFiber => Boolean): List[Terminal] =
    val producer = Telling(body)
    producer.whole.runSync()
    producer.told

  test("it tells the end where work has come to it, and nothing where nobody wants more"):
    assertEquals(told(_ => true), List(Terminal.Ended))
    assertEquals(told(_ => false), Nil)

  test("it tells an error of plain code and of a task"):
    val boom = Boom()
    for body <- List[TaskFiber => Boolean](_ => throw boom, _.await(Task.fail(boom))) do
      told(body) match
        case List(failed: Terminal.Failed) => assertEquals(failed.error, boom)
        case other => fail(s"it told $other")

  test("it tells its own cancel"):
    told(fiber => { fiber.await(CancelSelf): Unit; true }) match
      case List(_: Terminal.Canceled) => ()
      case other => fail(s"it told $other")

  test("what an interrupt of its cancel makes of plain code counts as the cancel"):
    val begun = CountDownLatch(1)
    val producer = Telling { _ =>
      begun.countDown()
      try Thread.sleep(Long.MaxValue)
      catch case error: InterruptedException => throw IllegalStateException(error)
      true
    }
    DirectCode { fiber =>
      producer.begin(fiber)
      await(begun)
      producer.stop(fiber)
    }.runSync()
    assert(producer.told.forall(_.isInstanceOf[Terminal.Canceled]), producer.told.toString)

  test("stop waits until what is masked has ended"):
    val begun = CountDownLatch(1)
    @volatile var ended = false
    val producer = Telling { fiber =>
      fiber.masked {
        begun.countDown()
        for _ <- 1 to 100 do fiber.await(Task.cede)
        ended = true
      }
      true
    }
    DirectCode { fiber =>
      producer.begin(fiber)
      await(begun)
      producer.stop(fiber)
      assert(ended)
    }.runSync()

  test("what follows the end runs at once where it has not begun, and nothing is waited for"):
    val producer = Telling(_ => true)
    assertEquals(producer.whenEnded(Task.pure(1)).runSync(), 1)
    DirectCode { fiber =>
      producer.requestCancel()
      producer.stop(fiber)
      producer.join(fiber)
      assert(!producer.hasBegun)
      producer.begin(fiber)
      assertEquals(fiber.await(producer.whenEnded(Task(producer.told.size))), 1)
    }.runSync()
