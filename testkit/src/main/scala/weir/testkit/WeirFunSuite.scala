package weir.testkit

import java.util.concurrent.ExecutionException
import scala.concurrent.{ExecutionContext, Future}
import scala.util.Try
import weir.Task

/** A munit suite whose tests may return a task, which then runs on a `TestRuntime`. It needs munit,
  * which the test kit does not depend on.
  */
trait WeirFunSuite extends munit.FunSuite, TaskAssertions, ResourceFixtures:

  /** Returns the runtime of one test. */
  def testRuntime(): TestRuntime = TestRuntime()

  /** Defines a test that runs `task` in every order: see `TestRuntime.explore`. */
  def explored(name: String, limits: ExploreLimits = ExploreLimits())(
      task: => Task[Any]
  )(using munit.Location): Unit = test(name)(TestRuntime.explore(limits)(task): Unit)

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

  override def munitTestTransforms: List[TestTransform] =
    super.munitTestTransforms :+ TestTransform(
      "the place of a test that is stuck",
      test =>
        test.withBody(() =>
          test
            .body()
            .transform(identity, located(_, test.location))(using ExecutionContext.parasitic)
        )
    )

  /** Returns `error` with the test's file and line in front of its message, as munit names them. A
    * `Future` wraps an `Error` in an `ExecutionException`.
    */
  private def located(error: Throwable, location: munit.Location): Throwable =
    def message(of: Throwable) = s"${location.path}:${location.line}: ${of.getMessage}"
    error match
      case box: ExecutionException if box.getCause ne null => located(box.getCause, location)
      case stuck: TestRuntime.Stuck => TestRuntime.Stuck(message(stuck)).initCause(stuck)
      case leaked: TestRuntime.Leaked => TestRuntime.Leaked(message(leaked)).initCause(leaked)
      case other => other
