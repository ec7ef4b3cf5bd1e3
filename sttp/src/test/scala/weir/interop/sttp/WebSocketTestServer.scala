package weir.interop.sttp

import java.nio.ByteBuffer
import org.eclipse.jetty.server.{Server, ServerConnector}
import org.eclipse.jetty.websocket.api.{Callback, Session}
import org.eclipse.jetty.websocket.server.WebSocketUpgradeHandler
import weir.{Resource, Task}

/** The web sockets that sttp's suites ask for, by Jetty. */
private object WebSocketTestServer:
  def running(port: Int): Resource[Unit] = Resource
    .make(Task {
      val server = Server()
      val connector = ServerConnector(server)
      connector.setPort(port)
      server.addConnector(connector)
      server.setHandler(handler(server))
      server.start()
      server
    })(server => Task(server.stop()))
    .map(_ => ())

  private def handler(server: Server): WebSocketUpgradeHandler =
    WebSocketUpgradeHandler.from(
      server,
      container => {
        container.addMapping("/ws/echo", (_, _, _) => Echo())
        container.addMapping("/ws/send_and_wait", (_, _, _) => Sends("test10", "test20"))
        container.addMapping("/ws/send_and_expect_echo", (_, _, _) => Expects())
        container.addMapping(
          "/ws/header",
          (_, response, _) => {
            response.getHeaders.put("Correlation-ID", "ABC-XYZ-123"): Unit
            Echo()
          }
        )
        container.addMapping(
          "/ws/protocol-header",
          (_, response, _) => {
            response.setAcceptedSubProtocol("abc")
            Echo()
          }
        )
      }
    )

  private final class Echo extends Session.Listener.AbstractAutoDemanding:
    override def onWebSocketText(text: String): Unit =
      getSession.sendText(s"echo: $text", Callback.NOOP)
    override def onWebSocketBinary(bytes: ByteBuffer, callback: Callback): Unit =
      getSession.sendBinary(bytes, callback)

  private final class Sends(texts: String*) extends Session.Listener.AbstractAutoDemanding:
    override def onWebSocketOpen(session: Session): Unit =
      super.onWebSocketOpen(session)
      texts.foreach(session.sendText(_, Callback.NOOP))

  /** Sends three messages, and closes once each has been answered. */
  private final class Expects extends Session.Listener.AbstractAutoDemanding:
    private var answered = 0
    override def onWebSocketOpen(session: Session): Unit =
      super.onWebSocketOpen(session)
      for n <- 1 to 3 do session.sendText(s"test$n", Callback.NOOP)
    override def onWebSocketText(text: String): Unit =
      answered += 1
      if text != s"test$answered-echo" then getSession.close(1003, text, Callback.NOOP)
      else if answered == 3 then getSession.close(1000, "done", Callback.NOOP)
