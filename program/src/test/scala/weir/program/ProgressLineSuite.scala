package weir.program

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*

import munit.FunSuite

import weir.{Outcome, Task}

class ProgressLineSuite extends FunSuite:

  test("the remaining time is as long as the part that is done, in proportion"):
    assertEquals(ProgressLine.timeLeft(0.25, 0.02, 10.seconds), ", 30 s left")
    assertEquals(ProgressLine.timeLeft(0.5, 0.02, 200.seconds), ", 3 min 20 s left")
    assertEquals(ProgressLine.timeLeft(1, 0.02, 10.seconds), ", 0 s left")

  test("it is unknown at the start"):
    assertEquals(ProgressLine.timeLeft(0, 0.02, 10.seconds), "")
    assertEquals(ProgressLine.timeLeft(0.02, 0.02, 10.seconds), "")

  test("a bar fills the columns before the words"):
    assertEquals(ProgressLine.bar(0.5, "half", 18), "[=====     ] half")
    assertEquals(ProgressLine.bar(1, "all", 17), "[==========] all")
    assertEquals(ProgressLine.bar(0.5, "a long text", 12), "a long text")
    assertEquals(ProgressLine.bar(0.5, "a long text", 6), "a long")

  test("the line is shown again and again, until the run ends or is cancelled"):
    val thrice = CountDownLatch(3)
    val isShowing = AtomicInteger()
    val show = Task
      .delay(isShowing.incrementAndGet())
      .bracket(_ => Task(thrice.countDown()))(_ => Task.delay(isShowing.decrementAndGet()).void)
    assertEquals(ProgressLine.beside(Task { thrice.await(); 7 }, 1.milli)(show).runSync(), 7)
    assertEquals(isShowing.get, 0)

    val begun = CountDownLatch(1)
    val endless = show.andThen(Task(begun.countDown())).andThen(Task.never)
    val ended = CountDownLatch(1)
    val display = endless.guarantee(Task(ended.countDown()))
    val run = Task(begun.await()).andThen(Task.canceled)
    val fiber = ProgressLine.beside(run, 1.milli)(display).start
    assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(ended.getCount, 0L)
