package weir.testkit

import scala.concurrent.duration.*
import weir.Task

class TaskAssertionsSuite extends WeirFunSuite:
  private final class Boom(message: String) extends RuntimeException(message)

  /** The message with which munit fails `task`. */
  private def failure(task: Task[Any]): Task[String] =
    task.attempt.map {
      case Left(error: munit.FailExceptionLike[?]) => error.getMessage
      case other => fail(s"munit's failure was expected, not $other")
    }

  test("what a task returns"):
    for
      _ <- assertTask(Task.sleep(1.hour).as(1), 1)
      _ <- Task.pure(Option(1)).assertEquals(Some(1))
      _ <- assertTaskBoolean(Task(true))
      _ <- Task(3).assert(_ > 2)
      _ <- Task(Right(1): Either[String, Int]).mapOrFail { case Right(n) => n }.assertEquals(1)
    yield ()

  test("what a task does not return fails with both values, or the clue"):
    for
      _ <- failure(assertTask(Task(1), 2)).assert(m => m.contains("-1") || m.contains("+2"))
      _ <- failure(Task(1).assertEquals(2, "the clue")).assert(_.contains("the clue"))
      _ <- failure(assertTaskBoolean(Task(false), "the clue")).assert(_.contains("the clue"))
      _ <- failure(Task(3).assert(_ > 4)).assert(_.contains("value obtained: 3"))
      _ <- failure(Task("left").mapOrFail { case "right" => 1 }).assert(_.contains("left"))
    yield ()

  test("an assertion is checked when its task runs, not when it is made"):
    val wrong = assertTask(Task(1), 2)
    failure(wrong).void

  test("the error of a task"):
    val boom = Boom("boom")
    for
      _ <- interceptTask[Boom](Task.fail(boom)).assert(_ eq boom)
      _ <- interceptTask[RuntimeException](Task(throw boom)).assert(_ eq boom)
      _ <- interceptMessageTask[Boom]("boom")(Task.fail(boom)).assert(_ eq boom)
      _ <- Task.fail(boom).intercept[Boom]
      _ <- Task.fail(boom).interceptMessage[Boom]("boom")
    yield ()

  test("no error, another one, or one with another message fails"):
    for
      _ <- failure(interceptTask[Boom](Task(7))).assert(_.contains("returned 7"))
      _ <- failure(interceptTask[Boom](Task.fail(Error("x")))).assert(_.contains("java.lang.Error"))
      _ <- failure(Task.fail(Boom("a")).interceptMessage[Boom]("b")).assert(_.contains("'a'"))
    yield ()

  test("an assertion that fails inside of what is intercepted is the failure"):
    failure(interceptTask[Boom](Task(assertEquals(1, 2))))
      .assert(_.contains("values are not the same"))

  test("a failure names the line of the test"):
    failure(assertTask(Task(1), 2)).assert(_.contains("TaskAssertionsSuite.scala:"))
