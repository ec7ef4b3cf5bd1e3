package weir
package stream

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger

/** The exception that the interrupt of a cancel raises in plain code of a stream is that cancel,
  * and no error that a handler sees.
  */
class InterruptedCodeSuite extends StreamTests:

  private def blocks(begun: CountDownLatch): Int =
    begun.countDown()
    Thread.sleep(3_600_000)
    1

  for (name, make) <- List[(String, CountDownLatch => Stream[Int])](
      "next of an iterator" -> (l => Stream.fromIterator(Iterator.continually(blocks(l)))),
      "map" -> (l => Stream.emit(1).map(_ => blocks(l))),
      "filter" -> (l => Stream.emit(1).filter(_ => blocks(l) == 1)),
      "flatMap" -> (l => Stream.emit(1).flatMap(_ => Stream.emit(blocks(l)))),
      "unfold" -> (l => Stream.unfold(0)(_ => Some((blocks(l), 0)))),
      "a thunk" -> (l => Stream.eval(Task(blocks(l))))
    )
  do
    test(s"a cancel while $name blocks is no error for handleErrorWith"):
      val begun = CountDownLatch(1)
      val handled = AtomicInteger()
      val stream = make(begun).handleErrorWith { _ =>
        handled.incrementAndGet()
        Stream.empty
      }
      val fiber = stream.drain.start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
      assertEquals(handled.get, 0)
