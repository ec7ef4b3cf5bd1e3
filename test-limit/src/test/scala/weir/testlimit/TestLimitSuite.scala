package weir.testlimit

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import munit.FunSuite
import org.junit.Test
import org.junit.runner.{JUnitCore, Result}
import scala.jdk.CollectionConverters.*

class TestLimitSuite extends FunSuite:
  /** A limit, and how long an interrupted test may take to end, also on a busy machine. */
  private val margin = 1000L

  /** The way in which it ended, and its output. */
  private def run(
      suite: Class[?],
      limitMillis: Long,
      halt: () => Unit = () => ()
  ): (Result, Vector[String]) =
    val said = ConcurrentLinkedQueue[String]()
    val runner = JUnitCore()
    runner.addListener(TestLimit(limitMillis, halt, said.add(_): Unit))
    (runner.run(suite), said.asScala.toVector)

  test("a test that hangs fails under its name, and the next one runs"):
    val (result, said) = run(classOf[OneHangs], margin)
    assertEquals(result.getRunCount, 2)
    val failures = result.getFailures
    assertEquals(failures.size, 1)
    assertEquals(failures.get(0).getDescription.getMethodName, "hangs")
    assert(failures.get(0).getException.isInstanceOf[InterruptedException])
    assertEquals(said.size, 1)
    assert(said.head.startsWith("hangs(weir.testlimit.OneHangs) takes too long"), said.head)
    assert(said.head.contains("at weir.testlimit.OneHangs.hangs(TestLimitSuite.scala:"), said.head)

  test("the interrupt of a test that went on is not for the next one"):
    val (result, said) = run(classOf[OneSwallows], margin)
    assertEquals(result.getRunCount, 2)
    assertEquals(result.getFailureCount, 0)
    assertEquals(said.size, 2)

  test("a test that goes on regardless ends the JVM"):
    val halts = AtomicInteger()
    val (result, said) = run(
      classOf[OneGoesOn],
      100,
      () =>
        halts.incrementAndGet()
        OneGoesOn.ends.countDown()
    )
    assertEquals(result.getRunCount, 1)
    assertEquals(halts.get, 1)
    assertEquals(said.size, 2)

  test("tests within the limit are left alone"):
    val (result, said) = run(classOf[OneIsQuick], 60_000)
    assert(result.wasSuccessful)
    assertEquals(said, Vector())

/** Their names decide what runs first: JUnit's default order has `hangs` before `next`, in one way
  * or the other, and both must be right.
  */
class OneHangs:
  @Test def hangs(): Unit = CountDownLatch(1).await()
  @Test def next(): Unit = assert(!Thread.currentThread.isInterrupted)

class OneSwallows:
  private def swallow(): Unit =
    while !Thread.currentThread.isInterrupted do Thread.onSpinWait()
  @Test def first(): Unit = swallow()
  @Test def second(): Unit = swallow()

class OneGoesOn:
  @Test def goesOn(): Unit =
    while OneGoesOn.ends.getCount > 0 do
      try OneGoesOn.ends.await()
      catch case _: InterruptedException => ()

object OneGoesOn:
  val ends = CountDownLatch(1)

class OneIsQuick:
  @Test def quick(): Unit = Thread.sleep(20)
