package weir.http.server

import java.lang.reflect.Proxy
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

  test("no request begins once the drain has found none in flight"):
    val all = requests(ServerSettings())
    val refused = all.refusal(request(all.drain(0.seconds, hasConnections = false).runSync()))
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
