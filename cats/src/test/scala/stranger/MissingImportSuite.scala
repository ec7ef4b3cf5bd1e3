package stranger

import scala.compiletime.testing.typeCheckErrors
import weir.Task

/** A file of somebody else's without the import of the instances. */
class MissingImportSuite extends munit.FunSuite:

  test("where an instance is missing, the error names the import"):
    val async = typeCheckErrors("summon[cats.effect.Async[Task]]")
    val traverse = typeCheckErrors("cats.Traverse[List].traverse(List(1))(n => Task(n))")
    for errors <- List(async, traverse) do
      assert(errors.exists(_.message.contains("import weir.interop.cats.given")), errors)
