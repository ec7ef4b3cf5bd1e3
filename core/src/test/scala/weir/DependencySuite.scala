package weir

/** The packages of the library use each other in one direction only: see CONTRIBUTING.md. */
class DependencySuite extends WeirSuite:

  private val order = PackageOrder(
    PackageOrder.find("src/main/scala/weir"),
    "weir",
    List(
      Set("runtime"),
      Set("fiber"),
      Set("trace"),
      Set("sync", "group"),
      Set("task", "stream"),
      Set("app", "japi")
    )
  )

  /** Uses against the order that exist today, each with its reason. */
  private val exceptions = Map.empty[String, String]

  test("no package uses one that is above it or beside it"):
    assertEquals((order.violations -- exceptions.keySet).toList.sorted, Nil)

  test("each exception is needed"):
    assertEquals((exceptions.keySet -- order.violations).toList.sorted, Nil)

  test("runtime uses nothing of the API: it runs jobs, and knows no task and no fiber"):
    assertEquals(order.usesOfTop("runtime"), Set())

  test("each folder has a place in the order"):
    assertEquals(order.unknown, Set())

  test("a use is found as an import, as a qualified name and as a relative one"):
    val packages = Set("fiber", "trace")
    def used(source: String) = PackageOrder.used(source, "weir", packages)
    assertEquals(used("package weir.fiber\nimport weir.trace.ErrorTrace"), Set("trace"))
    assertEquals(used("import weir.{fiber, Task}"), Set("fiber"))
    assertEquals(used("import weir.{Task,\n  trace as t}"), Set("trace"))
    val ofTop = PackageOrder.usedOfTop("import weir.{Task, trace as t}\nval x: weir.Spin", "weir")
    assertEquals(ofTop, Set("Task", "Spin"))
    assertEquals(used("val x = weir.trace.ErrorTrace.isOn"), Set("trace"))
    assertEquals(used("val x = _root_.weir.trace.ErrorTrace.isOn"), Set("trace"))
    assertEquals(used("import weir.*\nval x = trace.ErrorTrace.isOn"), Set("trace"))
    assertEquals(used("import trace.{ErrorTrace, Functions}"), Set("trace"))
    assertEquals(used("val x = fiber.size // weir.trace.ErrorTrace"), Set())
    assertEquals(used("/* weir.trace.X */ val x = \"weir.trace\" + '\"' + \"trace.X\""), Set())
    assertEquals(used("val x = my.weir.trace.X + Weir.trace + weir.traces"), Set())
