package weir.rules.modules

import weir.rules.PackageOrder

/** The packages of `postgres` know each other in one direction only:
  *
  * {{{
  * psql <- display <- split <- input <- protocol <- jobs <- journal <- apply
  * }}}
  *
  * The types of `weir.postgres` itself, which all may use, are followed: a package must not reach
  * one to its right by way of them either.
  */
class PostgresPackagesSuite extends munit.FunSuite:
  private val module = Modules.of("postgres")
  private val names =
    List("psql", "display", "split", "input", "protocol", "jobs", "journal", "apply")
  private val order = PackageOrder("weir.postgres", names.map(Set(_)))

  test(s"no package knows one to its right in ${names.mkString(", ")}"):
    val found = (order.onlyDownwards :: order.neverReachesUpwards).flatMap(module.breaking)
    assertEquals(found, Nil)

  test("each package is in the order"):
    assertEquals(module.breaking(order.isComplete()), Nil)
