package weir.testkit

import java.nio.file.Path
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
            .transform(identity, located(_, test))(using ExecutionContext.parasitic)
        )
    )

  /** Returns `error` with the test's file and line in front of its message, as munit names them,
    * and in its stack trace. A `Future` wraps an `Error` in an `ExecutionException`.
    */
  private def located(error: Throwable, test: Test): Throwable =
    val location = test.location
    def message(of: Throwable) = s"${location.path}:${location.line}: ${of.getMessage}"
    def begin =
      val file = Path.of(location.path).getFileName.toString
      StackTraceElement(getClass.getName, test.name, file, location.line)
    def at(place: Throwable, of: Throwable) =
      val users = of.getStackTrace.filter(Place.isUsers)
      place.setStackTrace(if users.isEmpty then Array(begin) else users)
      place
    error match
      case box: ExecutionException if box.getCause ne null => located(box.getCause, test)
      case stuck: TestRuntime.Stuck => at(TestRuntime.Stuck(message(stuck)), stuck)
      case leaked: TestRuntime.Leaked => at(TestRuntime.Leaked(message(leaked)), leaked)
      case other => other
