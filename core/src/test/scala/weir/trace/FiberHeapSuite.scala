package weir.trace

import scala.concurrent.duration.*
import weir.{Tier, WeirSuite}

/** The memory that a suspended fiber takes. */
class FiberHeapSuite extends WeirSuite:
  override def limit: FiniteDuration = 60.seconds

  test("a fiber that sleeps, or waits for a Deferred, takes at most 250 bytes of heap"):
    val (output, code) = WeirSuite.child(
      "weir.trace.FiberHeap",
      "-Xmx2g",
      s"-Dfibers=${Tier(50_000, 200_000)}"
    )
    println(output.linesIterator.map("measured, bytes a fiber: " + _).mkString("\n"))
    assertEquals(code, 0, output)
    val bytes = output.linesIterator.map(_.split(' ').last.toInt).toList
    assertEquals(bytes.size, 3, output)
    assert(bytes.forall(_ <= 250), output)
