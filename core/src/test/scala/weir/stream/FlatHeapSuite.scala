package weir
package stream

import scala.concurrent.duration.*

/** The heap does not grow, however many elements go through a concurrent operator: in a JVM of 64
  * MB. The short tier finds only a leak of some hundred bytes for each element.
  * `-Dweir.heap.elements=10000000` sets the number of elements for each operator, as in the long
  * tier.
  */
class FlatHeapSuite extends StreamTests:
  private val elements = Tier.size("weir.heap.elements", 4_000, 10_000_000)

  override def limit: FiniteDuration = if elements > 100_000 then 1.hour else 60.seconds

  test("the heap stays flat, however many elements: each concurrent operator, and emit ++ go"):
    val (output, code) = WeirSuite.childWithin(limit - 1.second)(
      "weir.stream.FlatHeap",
      "-Xmx64m",
      s"-Delements=$elements"
    )
    assertEquals((code, output.linesIterator.toList.lastOption), (0, Some("complete")), output)
    val grown = output.linesIterator.collect { case s"$name: $bytes bytes, $_" =>
      name -> bytes.toLong
    }.toList
    assert(grown.size > 40, output)
    val steep = grown.filter(_._2 > megabyte / 2)
    assert(steep.isEmpty, s"grown by bytes: $steep\n$output")
