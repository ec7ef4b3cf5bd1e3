package weir.testkit

import munit.Location
import scala.reflect.ClassTag
import scala.util.control.NonFatal
import weir.Task

/** Assertions of munit about the value or the error of a task. Each is a task, which the test
  * returns or runs as a part of the task that it returns.
  */
trait TaskAssertions:
  self: munit.Assertions =>

  /** Fails unless `obtained` returns `returns`.
    * {{{
    * test("one and one"):
    *   assertTask(Task(1 + 1), 2)
    * }}}
    */
  def assertTask[A, B](
      obtained: Task[A],
      returns: B,
      clue: => Any = "values are not the same"
  )(using location: Location, compare: munit.Compare[A, B]): Task[Unit] =
    obtained.map(assertEquals(_, returns, clue))

  /** Fails unless `obtained` returns true. */
  def assertTaskBoolean(
      obtained: Task[Boolean],
      clue: => Any = "value is not true"
  )(using location: Location): Task[Unit] = obtained.map(assert(_, clue))

  /** Runs `task` and returns its error, which must be a `T`. **Fails** if `task` succeeds, or fails
    * with another error.
    * {{{
    * test("a bad number is told"):
    *   interceptTask[NumberFormatException](Task("one".toInt))
    * }}}
    */
  def interceptTask[T <: Throwable](
      task: Task[Any]
  )(using expected: ClassTag[T], location: Location): Task[T] = intercepted(task, None)

  /** As `interceptTask`, for an error with that message. */
  def interceptMessageTask[T <: Throwable](message: String)(
      task: Task[Any]
  )(using expected: ClassTag[T], location: Location): Task[T] = intercepted(task, Some(message))

  /** The same assertions as methods of a task. */
  implicit final class TaskAssertionOps[A](task: Task[A]):

    /** Fails unless the task returns `expected`. */
    def assertEquals[B](
        expected: B,
        clue: => Any = "values are not the same"
    )(using location: Location, compare: munit.Compare[A, B]): Task[Unit] =
      assertTask(task, expected, clue)

    /** Fails unless `predicate` is true for the value of the task. */
    def assert(
        predicate: A => Boolean,
        clue: => Any = "predicate not satisfied"
    )(using location: Location): Task[Unit] =
      task.map(value =>
        self.assert(predicate(value), s"${munitPrint(clue)}, value obtained: $value")
      )

    /** Runs the task and returns its error, which must be a `T`: see `interceptTask`. */
    def intercept[T <: Throwable](using expected: ClassTag[T], location: Location): Task[T] =
      interceptTask[T](task)

    /** As `intercept`, for an error with that message. */
    def interceptMessage[T <: Throwable](
        message: String
    )(using expected: ClassTag[T], location: Location): Task[T] =
      interceptMessageTask[T](message)(task)

    /** Applies `f` to the value of the task. **Fails** if `f` is not defined for it. */
    def mapOrFail[B](
        f: PartialFunction[A, B],
        clue: => Any = "value didn't match any of the defined cases"
    )(using location: Location): Task[B] =
      task.map(value =>
        f.applyOrElse(value, _ => fail(s"${munitPrint(clue)}, value obtained: $value"))
      )

  private def intercepted[T <: Throwable](task: Task[Any], message: Option[String])(using
      expected: ClassTag[T],
      location: Location
  ): Task[T] = task.attempt.map {
    case Left(expected(error)) =>
      for text <- message if text != error.getMessage do
        fail(
          s"the task failed with a ${error.getClass.getName} whose message is " +
            s"'${error.getMessage}', and not '$text'",
          error
        )
      error
    case Left(NonFatal(error)) if !error.isInstanceOf[munit.FailExceptionLike[?]] =>
      fail(s"the task failed with a ${error.getClass.getName}, and not with a $expected", error)
    case Left(error) => throw error
    case Right(value) => fail(s"the task returned $value. It must fail with a $expected")
  }
