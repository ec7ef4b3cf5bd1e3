package stranger

import weir.*
import weir.interop.cats.given

import cats.effect.kernel.Async

/** A file of somebody else's, which imports all of Weir first. */
class ImportsSuite extends munit.FunSuite:

  test("after `import weir.*` the packages cats and fs2 are those of the libraries"):
    val one: Task[Int] = cats.syntax.functor.toFunctorOps(Async[Task].pure(1)).as(2)
    assertEquals(one.runSync(), 2)

  test("fs2's package too"):
    val ones: fs2.Stream[Task, Int] = fs2.Stream.eval(Task(1)).repeat.take(3)
    assertEquals(ones.compile.toList.runSync(), List(1, 1, 1))
