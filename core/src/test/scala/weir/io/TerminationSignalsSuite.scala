package weir.io

import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}
import sun.misc.Signal
import weir.WeirSuite

/** With SIGTERM, since a test process may have been started to ignore the others. */
class TerminationSignalsSuite extends WeirSuite:
  private def next[A](queue: LinkedBlockingQueue[A]): A | Null = queue.poll(30, TimeUnit.SECONDS)

  test("a handler gets the name and the exit code; its close installs the handler before it"):
    val term = Signal("TERM")
    val (own, before) = (LinkedBlockingQueue[(String, Int)](), LinkedBlockingQueue[String]())
    val original = Signal.handle(term, signal => before.add(signal.getName): Unit)
    try
      val signals = TerminationSignals.handle((name, code) => own.add((name, code)): Unit)
      Signal.raise(term)
      assertEquals(next(own), ("SIGTERM", 143))
      signals.close()
      Signal.raise(term)
      assertEquals(next(before), "TERM")
      assert(own.isEmpty, own)
    finally Signal.handle(term, original): Unit
