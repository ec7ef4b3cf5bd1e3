package weir
package stream

import java.lang.annotation.Annotation
import java.lang.reflect.{InvocationTargetException, Method}
import java.util.concurrent.{ExecutorService, Executors}
import org.reactivestreams.tck.TestEnvironment
import org.testng.SkipException
import org.testng.annotations.{AfterClass, BeforeClass, BeforeMethod, Test as KitTest}
import scala.concurrent.duration.*

/** Every method of a class of the kit of Reactive Streams as a test of its own, except for those
  * that the kit skips. A test that the kit skips fails here, unless the kit has no test for that
  * rule (its methods are then called `untested_…`), or `skips` names the rule that allows it. Those
  * are one test together, which fails if one of them is not skipped.
  */
trait TckSuite extends WeirSuite:

  /** A new object for each test. */
  def verification(): AnyRef
  def kit: Class[?]

  /** The reasons for which the kit skips tests, by the begins of their names. */
  def skips: Map[String, String] = Map.empty

  /** The runtime of the kit: fibers that the kit does not cancel stay on it. */
  given runtime: WeirRuntime = WeirRuntime.make(2, 64)

  /** The times that the kit waits: for signals that should come, for signals that should not, and
    * for an error. A new one for each test, since it keeps that test's errors.
    *
    * Version 1.0.4 looks for an error once, after the third of them: `Receptacle.expectError`
    * computes the rest of the first as a negative number.
    */
  def environment: TestEnvironment =
    TestEnvironment(Tier(2_000L, 5_000L), Tier(15L, 200L), Tier(300L, 1_000L))

  val unreachableMillis: Long = Tier(100L, 500L)

  private def methods[A <: Annotation](annotation: Class[A]): Seq[Method] =
    kit.getMethods.toSeq.filter(_.isAnnotationPresent(annotation)).sortBy(_.getName)

  private def reasonFor(name: String): Option[String] =
    if name.startsWith("untested_") then Some("the kit has no test for this rule")
    else skips.collectFirst { case (start, reason) if name.startsWith(start) => reason }

  private def invoke(method: Method, on: AnyRef): Unit =
    try method.invoke(on): Unit
    catch case error: InvocationTargetException => throw error.getCause.nn

  private def skippedBecause(method: Method): Option[String] =
    val kitTest = verification()
    try
      for before <- methods(classOf[BeforeClass]) ++ methods(classOf[BeforeMethod]) do
        invoke(before, kitTest)
      invoke(method, kitTest)
      None
    catch case skipped: SkipException => Some(skipped.getMessage)
    finally methods(classOf[AfterClass]).foreach(invoke(_, kitTest))

  protected def registerAll(): Unit =
    val (toSkip, toPass) =
      methods(classOf[KitTest]).partition(method => reasonFor(method.getName).nonEmpty)
    for method <- toPass do
      test(method.getName):
        skippedBecause(method).foreach(message => fail(s"skipped by the kit: $message"))
    test("the kit skips what it has no test for, and what a rule makes optional, and no more"):
      // Concurrently, since each waits for a signal that should not come. Again and again, since an
      // optional one is skipped for an error that comes within the 15 ms that the kit waits.
      def skipped(method: Method): Option[String] =
        val deadline = 15.seconds.fromNow
        Iterator
          .continually(skippedBecause(method))
          .takeWhile(why => why.nonEmpty || deadline.hasTimeLeft())
          .collectFirst { case Some(why) => why }
      val reasons = Task.parTraverse(toSkip)(method => Task(skipped(method))).runSync()
      val notSkipped = toSkip.zip(reasons).collect { case (method, None) => method }
      assertEquals(
        notSkipped.map(method => method.getName -> reasonFor(method.getName)).toList,
        Nil
      )

object TckSuite:
  /** The executor that the publishers of the kit run on. */
  lazy val executor: ExecutorService = Executors.newCachedThreadPool { body =>
    val thread = Thread(body, "kit")
    thread.setDaemon(true)
    thread
  }
