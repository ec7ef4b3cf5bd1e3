package weir.http

import java.util.concurrent.CopyOnWriteArrayList
import java.util.logging.{Handler, LogRecord, Logger}
import scala.jdk.CollectionConverters.*
import weir.{Task, WeirRuntime}

class HttpServerFiguresSuite extends HttpSuite:
  private def values(port: Int): Map[(String, String), Double] =
    val all = for
      metric <- WeirRuntime.default.metrics
      if metric.name.startsWith("weir.http.server")
      point <- metric.points
      attributes = point.attributes.toMap
      if attributes("port") == port.toString
    yield (metric.name, attributes.getOrElse("status", "")) -> point.value
    all.toMap

  test("requests are counted by the class of their status, and those in flight"):
    var port = 0
    var during = 0.0
    val handler = (request: Request) =>
      Task {
        // Later ones may come before the end of the one before them is counted.
        if request.path == "/200" then during = values(port)("weir.http.server.active" -> "")
        Response(request.path.drop(1).toInt)
      }
    serving(handler) { its =>
      port = its
      connected(port) { connection =>
        for path <- List("/200", "/204", "/404") do connection.get(path): Unit
      }
      assertEquals(during, 1.0)
      eventually(s"they are counted: ${values(port)}") {
        val all = values(port)
        all.get("weir.http.server.requests" -> "2xx").contains(2.0) &&
        all.get("weir.http.server.requests" -> "4xx").contains(1.0) &&
        all.get("weir.http.server.time" -> "2xx").exists(_ > 0) &&
        all.get("weir.http.server.active" -> "").contains(0.0)
      }
    }
    assertEquals(values(port), Map.empty)

  test("the access log has a line for each request"):
    val lines = CopyOnWriteArrayList[String]()
    val handler = new Handler:
      def publish(record: LogRecord): Unit = lines.add(record.getMessage): Unit
      def flush(): Unit = ()
      def close(): Unit = ()
    val logger = Logger.getLogger("weir.http.access")
    logger.addHandler(handler)
    logger.setUseParentHandlers(false)
    try
      exchanging(ok, ServerSettings(accessLog = true)) { connection =>
        connection.get("/a?b=c"): Unit
        connection.send("nonsense\n\n")
        connection.response(): Unit
        eventually(s"$lines")(lines.size == 2)
      }
    finally
      logger.removeHandler(handler)
      logger.setUseParentHandlers(true)
    val expected = "127.0.0.1 GET /a\\?b=c 200, 2 bytes, \\d+ us"
    assert(lines.asScala.head.matches(expected), lines)
    assert(lines.asScala.last.contains(" 400, "), lines)
