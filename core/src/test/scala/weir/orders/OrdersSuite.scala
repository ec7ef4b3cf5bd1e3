package weir.orders

import java.nio.file.{FileSystems, Files, Path}
import munit.Location
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Using
import weir.testkit.{Disturbed, ExploreLimits, ExploreReport, TestRuntime}
import weir.{Fiber, Outcome, Ref, Resource, Task, Tier}

/** Small programs that must end well in every order of their steps.
  *
  * Each has two or three fibers, one of which often cancels another: as that may come between any
  * two steps, it is a cancel everywhere.
  */
abstract class OrdersSuite extends munit.FunSuite:
  TestRuntime.run(Task.unit) // the first use loads the agent

  /** The time for each program in the short tier: twenty seconds for all of these suites. */
  protected def shortMillis: Int = 40

  protected final def limits: ExploreLimits = ExploreLimits(
    time = Tier.size("weir.orders.millis", shortMillis, long = 20_000).millis,
    steps = 50_000
  )

  override def munitTimeout: Duration = 2.minutes

  /** Defines a test that runs `program` in all its orders with up to two pre-emptions, or in as
    * many of them as there is time for.
    *
    * @param inside the begins of the names of classes whose every access to a shared object is a
    *   step
    */
  final def orders(name: String)(inside: String*)(program: => Task[Any])(using Location): Unit =
    explored(name, inside)(TestRuntime.explore(_)(program))

  /** Does the same as `orders`, and cancels a task of `program` at each of its steps. */
  final def cancels(name: String)(inside: String*)(program: Disturbed => Task[Any])(using
      Location
  ): Unit = explored(name, inside)(TestRuntime.cancelEverywhere(_)(program))

  /** Does the same as `orders`, and has a task of `program` fail at each of its steps. */
  final def fails(name: String)(inside: String*)(program: Disturbed => Task[Any])(using
      Location
  ): Unit = explored(name, inside)(TestRuntime.failEverywhere(_)(program))

  private def explored(name: String, inside: Seq[String])(
      run: ExploreLimits => ExploreReport
  )(using Location): Unit =
    test(name)(OrdersSuite.tell(name, run(limitsInside(inside))))

  /** Returns limits with which each access of the classes `inside` is a step. */
  protected final def limitsInside(inside: Seq[String]): ExploreLimits =
    for start <- inside do
      assert(OrdersSuite.classNames.exists(_.startsWith(start)), s"No class begins with $start")
    limits.copy(inside = inside.toList)

object OrdersSuite:
  /** Prints what was run, where that is asked for. */
  def tell(name: String, report: Any): Unit = if isTold then println(s"$name: $report")

  /** The names of the classes of core. */
  private lazy val classNames: List[String] =
    val at = Path.of(classOf[Task[?]].getProtectionDomain.getCodeSource.getLocation.toURI)
    val root = if Files.isDirectory(at) then at else FileSystems.newFileSystem(at).getPath("/")
    Using.resource(Files.walk(root))(
      _.iterator.asScala
        .map(file => root.relativize(file).toString)
        .filter(_.endsWith(".class"))
        .map(_.stripSuffix(".class").replace('/', '.'))
        .toList
    )

  private val isTold = Tier.isLong || sys.props.contains("weir.orders.millis")

  /** Runs each of `tasks` in a fiber of its own. Fails as the first that has failed, once all have
    * ended.
    */
  def together(tasks: Task[Any]*): Task[Unit] =
    for
      fibers <- Task.traverse(tasks)(_.start)
      outcomes <- Task.traverse(fibers)(_.join)
    yield outcomes.foreach(_.get)

  /** Runs `task`, counts its end in `ends`, and lets a cancel end it only while it waits. */
  def counted[A](ends: Ref[Int])(task: Task[A]): Task[A] =
    Task.uncancelable(poll => poll(task).flatTap(_ => ends.update(_ + 1)))

  /** Returns a resource that counts in `open` how many are open. */
  def opened(open: Ref[Int]): Resource[Int] =
    Resource.make(open.updateAndGet(_ + 1))(_ => open.update(_ - 1))

  /** The value of `task`, which is stored in the same step: None if `task` was cancelled before. */
  final class Kept[A] private (value: Ref[Option[A]], fiber: Fiber[Unit]):
    def cancel: Task[Unit] = fiber.cancel

    /** Waits for the end. Fails as the task has. */
    def get: Task[Option[A]] = fiber.join.flatMap {
      case Outcome.Failed(error) => Task.fail(error)
      case _ => value.get
    }

  object Kept:
    /** Starts `task`, which a cancel may end only while it waits. */
    def start[A](task: Task[A]): Task[Kept[A]] =
      for
        value <- Ref.of[Option[A]](None)
        fiber <- Task.uncancelable(poll => poll(task).flatMap(a => value.set(Some(a)))).start
      yield Kept(value, fiber)
