package weir.rules.modules

import weir.rules.{PackageOrder, PackagesApart}

/** `postgres-queue` and `postgres` know nothing of each other, though the package of one is within
  * that of the other. In the first, `worker` knows `tables`, and `tables` does not know `worker`.
  */
class PostgresQueuePackagesSuite extends munit.FunSuite:
  private val module = Modules.of("postgres-queue")
  private val order = PackageOrder("weir.postgres.queue", List(Set("tables"), Set("worker")))

  test("tables does not know worker"):
    assertEquals(module.breaking(order.onlyDownwards), Nil)

  test("each package is in the order"):
    assertEquals(module.breaking(order.isComplete()), Nil)

  for name <- List("postgres", "postgres-queue") do
    test(s"$name knows no class of the other module"):
      val rules = PackagesApart("weir.postgres.queue", "weir.postgres").rules
      assertEquals(rules.flatMap(Modules.of(name).breaking), Nil)
