package weir
package stream

import weir.fiber.DirectCode

class TerminalSuite extends StreamTests:

  private def keeping(terminal: Terminal, outcome: Outcome[Unit]): String =
    printed(DirectCode(terminal.keep(_, outcome)).runSync())

  test("an error that is kept is suppressed under that of the consumer"):
    val (first, later) = (Boom("first"), Boom("later"))
    assertEquals(keeping(Terminal.Failed(later), Outcome.Failed(first)), "")
    assertEquals(first.getSuppressed.toList, List[Throwable](later))

  test("an error that is kept is reported where the consumer has none"):
    for outcome <- List(Pull.succeeded, Outcome.Canceled) do
      assert(keeping(Terminal.Failed(Boom("kept")), outcome).contains("kept"))

  test("of a cancel only the errors that are suppressed under it are kept, and of an end nothing"):
    val (first, later) = (Boom("first"), Boom("later"))
    val canceled = Terminal.canceled
    assertEquals(keeping(canceled, Outcome.Failed(first)), "")
    canceled.error.addSuppressed(later)
    assertEquals(keeping(canceled, Outcome.Failed(first)), "")
    assertEquals(keeping(Pull.End, Outcome.Failed(first)), "")
    assertEquals(first.getSuppressed.toList, List[Throwable](later))

  test("an error that is reached is thrown, and counts as awaited"):
    val boom = Boom()
    val isAwaited = DirectCode { fiber =>
      try Terminal.Failed(boom).reach(fiber)
      catch case error: Boom => (error eq boom) && (fiber.thrown eq boom)
    }
    assert(isAwaited.runSync())

  test("what a terminal says of an error: a cancel that the stage makes is one whoever names it"):
    assert(Terminal.Failed(Terminal.SelfCanceled("itself")).isInstanceOf[Terminal.Canceled])
    assert(!Terminal.Failed(Boom()).isInstanceOf[Terminal.Canceled])
