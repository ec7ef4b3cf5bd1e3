package weir.orders

import munit.Location
import scala.concurrent.duration.*
import weir.testkit.{ExploreLimits, TestRuntime}
import weir.{Fiber, Outcome, Ref, Task, Tier}

/** Small programs that must end well in every order of their steps.
  *
  * Each has two or three fibers, one of which often cancels another: as that may come between any
  * two steps, it is a cancel everywhere.
  */
abstract class OrdersSuite extends munit.FunSuite:
  TestRuntime.run(Task.unit) // the first use loads the agent

  // With this time, all of these tests take a minute together in the short tier.
  private val limits = ExploreLimits(time = OrdersSuite.time, steps = 50_000)

  override def munitTimeout: Duration = 2.minutes

  /** Defines a test that runs `program` in all its orders with up to two pre-emptions, or in as
    * many of them as there is time for.
    *
    * @param inside the begins of the names of classes whose every access to a shared object is a
    *   step
    */
  final def orders(name: String)(inside: String*)(program: => Task[Any])(using Location): Unit =
    test(name):
      val report = TestRuntime.explore(limits.copy(inside = inside.toList))(program)
      if OrdersSuite.isTold then println(s"$name: $report")

object OrdersSuite:
  /** The time for each program. */
  private val time = Tier.size("weir.orders.millis", short = 200, long = 20_000).millis

  private val isTold = Tier.isLong || sys.props.contains("weir.orders.millis")

  /** Runs each of `tasks` in a fiber of its own. Fails as the first that has failed, once all have
    * ended.
    */
  def together(tasks: Task[Any]*): Task[Unit] =
    for
      fibers <- Task.traverse(tasks)(_.start)
      outcomes <- Task.traverse(fibers)(_.join)
    yield outcomes.foreach(_.get)

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
