package weir.postgres

import weir.rules.{PackageOrder, PublishedSuite}

/** The packages of this module know each other in one direction only:
  *
  * {{{
  * split <- input <- protocol <- jobs <- journal <- apply
  * }}}
  *
  * `queue` stands beside them: it knows none of them, and none knows it.
  *
  * The types of `weir.postgres` itself, which all may use, are followed: a package must not reach
  * one to its right by way of them either. Outside of `core` only its public API is used.
  */
class DependencySuite extends PublishedSuite(classOf[SqlScript]):
  private val names = List("split", "input", "protocol", "jobs", "journal", "apply")
  private val order = PackageOrder("weir.postgres", names.map(Set(_)))

  test("no package knows one to its right in split, input, protocol, jobs, journal, apply"):
    val found = (order.onlyDownwards :: order.neverReachesUpwards).flatMap(module.breaking)
    assertEquals(found, Nil)

  test("each package is in the order"):
    assertEquals(module.breaking(order.isComplete(beside = Set("queue"))), Nil)

  test("queue knows no other package, and no other knows it"):
    val rules =
      order.neverReaches("queue", names.toSet) :: names.map(order.neverReaches(_, Set("queue")))
    assertEquals(rules.flatMap(module.breaking), Nil)
