package weir

import java.io.{ByteArrayOutputStream, PrintStream}

class RuntimeHookSuite extends WeirSuite:
  private val runtime = WeirRuntime.default

  private def printedBy(body: => Unit): String =
    val bytes = ByteArrayOutputStream()
    val before = System.err
    System.setErr(PrintStream(bytes, true))
    try body
    finally System.setErr(before)
    bytes.toString

  test("each hook is called with the runtime, after one that throws too"):
    var seen = List.empty[WeirRuntime]
    val hooks = List[RuntimeHook](
      _ => throw IllegalStateException("planted"),
      started => seen ::= started
    )
    val said = printedBy(RuntimeHook.call(hooks, runtime))
    assertEquals(seen, List(runtime))
    assert(said.contains("planted"), said)

  test("a list of hooks that cannot be read is printed, and the program continues"):
    val said =
      printedBy(RuntimeHook.call(throw java.util.ServiceConfigurationError("bad"), runtime))
    assert(said.contains("ServiceConfigurationError: bad"), said)

  test("a fiber is cancelled by its name in a dump, once"):
    val fiber = Deferred.unsafe[Unit].get.start.runSync()
    def waiting = runtime.fiberDump().fibers.find(_.awaits.startsWith("Deferred"))
    eventually("it waits")(waiting.nonEmpty)
    val name = waiting.get.fiber
    assert(!runtime.cancelFiber("no fiber"))
    assert(runtime.cancelFiber(name))
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assert(!runtime.cancelFiber(name))
