package weir
package stream

import scala.concurrent.duration.*

class HttpBodiesSuite extends WeirSuite:
  override def limit: FiniteDuration = 120.seconds

  test("bodies of the JDK's HTTP client are streams, in less memory than they have bytes"):
    val megabytes = Tier(50, 500)
    val (text, code) = WeirSuite.childWithin(100.seconds)(
      "weir.stream.HttpBodies",
      "-Xmx36m",
      s"-Dmegabytes=$megabytes"
    )
    assertEquals(code, 0, text)
    val expected = text.linesIterator.collectFirst { case s"expected $sum" => sum }.get
    assert(expected.startsWith(s"${megabytes << 20} bytes"), expected)
    assert(text.contains(s"downloaded $expected"), text)
    assert(text.contains(s"uploaded $expected"), text)
    assert(text.contains("taken 1;"), text)
    assert(text.contains("no more blocks"), text)
