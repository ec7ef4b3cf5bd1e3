package weir.http.server

import java.nio.ByteBuffer
import javax.net.ssl.SSLEngine
import org.eclipse.jetty.io.ssl.{SslConnection, SslHandshakeListener}
import org.eclipse.jetty.io.{Connection, EndPoint}
import org.eclipse.jetty.server.{AbstractConnectionFactory, Connector, HttpConnectionFactory}
import weir.http.Tls

/** Makes connections with a layer of TLS, which Jetty's `SslConnection` is, under HTTP/1.1. */
private[server] final class TlsConnections(tls: Tls, http: HttpConnectionFactory)
    extends AbstractConnectionFactory("TLS"):

  override def newConnection(connector: Connector, endPoint: EndPoint): Connection =
    val watched = endPoint.asInstanceOf[WatchedEndPoint]
    val connection = TlsConnections.Layer(connector, watched, tls.engine())
    connection.setInputBufferSize(getInputBufferSize)
    connection.setRenegotiationAllowed(false)
    val plain = connection.getSslEndPoint
    plain.setConnection(http.newConnection(connector, plain))
    watched.secureBy(plain)
    connection.addHandshakeListener(
      new SslHandshakeListener:
        override def handshakeSucceeded(event: SslHandshakeListener.Event): Unit =
          watched.handshakeEnded()
    )
    connection

private object TlsConnections:
  private final class Layer(connector: Connector, watched: WatchedEndPoint, engine: SSLEngine)
      extends SslConnection(
        connector.getByteBufferPool,
        connector.getExecutor,
        /* sslContextFactory = */ null,
        watched,
        engine
      ):
    override protected def newSslEndPoint(): SslEndPoint = new SslEndPoint:
      override def fill(buffer: ByteBuffer): Int =
        val filled = super.fill(buffer)
        if filled > 0 then watched.received()
        filled
