package weir.http.server

import java.lang.reflect.Proxy
import java.util.concurrent.atomic.AtomicInteger
import org.eclipse.jetty.server.Request as JettyRequest
import scala.concurrent.duration.*
import weir.http.{Response, ServerSettings}
import weir.{Task, WeirRuntime, WeirSuite}

class RequestsSuite extends WeirSuite:
  private def requests(settings: ServerSettings) =
    Requests(settings, _ => Task.pure(Response(200)), summon[WeirRuntime])

  /** A request without a body. Runs `asked` when it is asked for its length. */
  private def request(asked: => Unit = ()): JettyRequest =
    val loader = classOf[JettyRequest].getClassLoader
    Proxy.newProxyInstance(
      loader,
      Array(classOf[JettyRequest]),
      (_, method, _) =>
        if method.getName != "getLength" then throw UnsupportedOperationException(s"$method")
        asked
        java.lang.Long.valueOf(0)
    ) match
      case made: JettyRequest => made
      case other => fail(s"$other")

  private final class Connected(val areOpen: Boolean, val readAll: Task[Unit])
      extends Requests.Connections:
    def stopAll(): Unit = ()

  private val none = Connected(areOpen = false, Task.unit)

  test("no request begins once the drain has found none in flight"):
    val all = requests(ServerSettings())
    val refused = all.refusal(request(all.drain(0.seconds, none).runSync()))
    assertEquals(refused, Requests.stopping)
    assertEquals(all.inFlight, 0)

  test("a response that is on its way makes room, and the drain still waits for it"):
    val all = requests(ServerSettings(requestLimit = 1))
    assertEquals(all.refusal(request()), null)
    assertEquals(all.refusal(request()), Requests.busy)
    all.answering()
    assertEquals(all.inFlight, 1)
    assertEquals(all.refusal(request()), null)
    assertEquals(all.inFlight, 2)

  test("the drain waits for requests that had come when it seemed that there were none"):
    val all = requests(ServerSettings())
    val reads = AtomicInteger()
    // The first look finds a request, which takes its time.
    val reading = Task.defer {
      if reads.incrementAndGet() > 1 then Task.unit
      else
        Task.delay(assertEquals(all.refusal(request()), null)) >>
          Task.delay(all.ended()).delayBy(50.millis).startDaemon.void
    }
    all.drain(1.minute, Connected(areOpen = true, reading)).runSync()
    assertEquals((reads.get, all.inFlight), (2, 0))
