package user

import scala.compiletime.testing.typeCheckErrors
import scala.util.NotGiven
import weir.*

/** Checks the messages of the compiler for those who come from another library. */
class HintsSuite extends munit.FunSuite:

  test("compile of a stream says that the stream's ends are tasks"):
    for errors <- List(
        typeCheckErrors("Stream(1).compile.toList"),
        typeCheckErrors("Stream(1).compile.fold(0)(_ + _).map(_ + 1)"),
        typeCheckErrors("Stream(1).compile")
      )
    do
      assertEquals(errors.size, 1, errors.map(_.message))
      assert(errors.head.message.startsWith("A stream of Weir needs no `compile`"))

  test("a missing instance of a type class names the import"):
    val errors = typeCheckErrors("summon[HintsSuite.Monad[Task]]")
    assert(errors.exists(_.message.contains("import weir.interop.cats.given")), errors)

  test("an instance that is there is found, and one that is not there is not given"):
    import HintsSuite.*
    given Given[Task] = new Given[Task] {}
    summon[Given[Task]]: Unit
    summon[Everywhere[Task]]: Unit
    summon[Derived[Task]]: Unit
    summon[NotGiven[Monad[Task]]]: Unit
    def orElse(using monad: Monad[Task] | Null = null) = monad
    assertEquals(orElse, null)

object HintsSuite:
  trait Monad[F[_]]
  trait Given[F[_]]
  trait Everywhere[F[_]]
  object Everywhere:
    given everywhere[F[_]]: Everywhere[F] = new Everywhere[F] {}
  trait Derived[F[_]]
  object Derived:
    given derived[F[_]](using Given[F]): Derived[F] = new Derived[F] {}
