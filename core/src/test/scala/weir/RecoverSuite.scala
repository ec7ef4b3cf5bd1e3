package weir

import java.io.IOException

/** Handlers that are not for every error. */
class RecoverSuite extends StreamTests:
  private val boom = Boom("the error")

  /** Checks the errors of a handler without a case for the error: its `MatchError`, and the error
    * under that.
    */
  private def assertNotHidden(failing: Task[Any]): Unit =
    failing.andThen(Task.unit).attempt.runSync() match
      case Left(thrown: MatchError) =>
        assertEquals(thrown.getSuppressed.toList, List(boom))
      case other => fail(s"$other instead of a MatchError")

  test("a handler without a case for the error does not hide it: it is under the MatchError"):
    for failing <- List(Task.fail(boom), Task(throw boom), Task.cede.andThen(Task.fail(boom))) do
      assertNotHidden(failing.handleErrorWith { case _: IOException => Task.unit })
      assertNotHidden(failing.handleError { case _: IOException => () })
      assertNotHidden(
        Resource
          .eval(failing)
          .handleErrorWith { case _: IOException => Resource.unit }
          .use(Task.pure)
      )

  test("a handler that throws another error, throws that, with the first one under it"):
    val first, second = Boom()
    val task = Task.fail(first).handleErrorWith(_ => throw second)
    assertEquals(task.attempt.runSync(), Left(second))
    assertEquals(second.getSuppressed.toList, List(first))

  test("a handler that throws the error, or wraps it, leaves it as it is"):
    val first = Boom()
    val wrapping = RuntimeException("wraps", RuntimeException("between", first))
    val wrapped = Task.fail(first).handleErrorWith(_ => throw wrapping)
    assertEquals(wrapped.attempt.runSync(), Left(wrapping))
    assertEquals(Task.fail(first).handleErrorWith(throw _).attempt.runSync(), Left(first))
    assertEquals((first.getSuppressed.toList, wrapping.getSuppressed.toList), (Nil, Nil))

  test("recoverWith and recover go on after an error for which they have a case"):
    val other = IOException("other")
    for failing <- List(Task.fail(boom), Task(throw boom), Task.cede.andThen(Task.fail(boom))) do
      assertEquals(failing.recoverWith { case `boom` => Task.pure(1) }.runSync(), 1)
      assertEquals(failing.recover { case _: Boom => 2 }.runSync(), 2)
      assertEquals(
        failing.recoverWith { case _: Boom => Task.fail(other) }.attempt.runSync(),
        Left(other)
      )
    assertEquals(Task.pure(3).recover { case _ => 4 }.runSync(), 3)

  test("recoverWith and recover leave any other error as it is"):
    val first = Boom()
    for failing <- List(Task.fail(first), Task(throw first)) do
      for task <- List[Task[Any]](
          failing.recoverWith { case _: IOException => Task.unit },
          failing.recover { case _: IOException => () },
          failing.recover { case e: Boom if e ne first => () }
        )
      do assertEquals(task.attempt.runSync(), Left(first))
    assertEquals(first.getSuppressed.toList, Nil)

  test("recover asks a case once, and an error that it throws has the first one under it"):
    val second = Boom()
    var asked = 0
    val task = Task.fail(boom).recover {
      case _ if { asked += 1; false } => ()
      case _ => throw second
    }
    assertEquals(task.attempt.runSync(), Left(second))
    assertEquals((asked, second.getSuppressed.toList), (1, List(boom)))

  test("recoverWith and recover of streams go on after an error for which they have a case"):
    val failing = Stream.emit(1) ++ Stream.fail(boom)
    assertEquals(
      failing.recoverWith { case _: Boom => Stream.emits(List(2, 3)) }.toList.runSync(),
      List(1, 2, 3)
    )
    assertEquals(failing.recover { case _: Boom => 2 }.toList.runSync(), List(1, 2))
    assertEquals(Stream.emit(1).recover { case _ => 2 }.toList.runSync(), List(1))

  test("recoverWith and recover of streams leave any other error as it is"):
    val first = Boom()
    val failing = Stream.emit(1) ++ Stream.fail(first)
    for stream <- List[Stream[Any]](
        failing.recoverWith { case _: IOException => Stream.empty },
        failing.recover { case _: IOException => () }
      )
    do assertEquals(seen(stream).runSync(), List(1, first))
    assertEquals(first.getSuppressed.toList, Nil)
