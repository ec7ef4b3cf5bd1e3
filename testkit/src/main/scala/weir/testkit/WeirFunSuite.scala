package weir.testkit

import scala.concurrent.Future
import scala.util.Try
import weir.Task

/** A munit suite whose tests may return a task, which then runs on a `TestRuntime`. Needs munit,
  * which the test kit does not depend on.
  */
trait WeirFunSuite extends munit.FunSuite:

  /** The runtime of one test. */
  def testRuntime(): TestRuntime = TestRuntime()

  override def munitValueTransforms: List[ValueTransform] =
    super.munitValueTransforms :+ ValueTransform(
      "Task",
      { case task: Task[?] =>
        Future.fromTry(Try {
          val runtime = testRuntime()
          try runtime.run(task)
          finally runtime.close()
        })
      }
    )
