package weir.stream

import java.net.Socket
import java.security.cert.CertificateException
import javax.net.ssl.{SSLContext, SSLHandshakeException, SSLParameters, SSLSocket}

/** Layers of TLS over sockets that are connected. The sockets stay those of their users: closing
  * one ends what waits in its layer.
  */
private[weir] object TlsSockets:

  /** Returns the layer of a client, after the handshake. The server's certificate must be one for
    * `host`.
    */
  def client(
      socket: Socket,
      host: String,
      port: Int,
      context: SSLContext,
      change: SSLParameters => Unit
  ): Socket =
    val layer = context.getSocketFactory.createSocket(socket, host, port, true).asSecured
    val parameters = layer.getSSLParameters
    parameters.setEndpointIdentificationAlgorithm("HTTPS")
    change(parameters)
    layer.setSSLParameters(parameters)
    try layer.startHandshake()
    catch case error: SSLHandshakeException => throw explained(error, s"$host:$port")
    layer

  /** Returns the layer of a server, whose handshake is a part of its first use. */
  def server(socket: Socket, context: SSLContext, change: SSLParameters => Unit): Socket =
    val layer = context.getSocketFactory.createSocket(socket, null, true).asSecured
    val parameters = layer.getSSLParameters
    change(parameters)
    layer.setSSLParameters(parameters)
    layer

  /** Ends the output. A layer does its handshake first, since it says nothing before. */
  def shutdownOutput(socket: Socket): Unit =
    socket match
      case layer: SSLSocket => layer.getSession: Unit
      case _ => ()
    socket.shutdownOutput()

  extension (socket: Socket) private def asSecured: SSLSocket = socket.asInstanceOf[SSLSocket]

  private def explained(error: SSLHandshakeException, address: String): SSLHandshakeException =
    val causes = Iterator.iterate[Throwable | Null](error)(_.nn.getCause).takeWhile(_ ne null)
    val reason =
      if causes.exists(_.isInstanceOf[CertificateException]) then
        "the certificate of the server is not one that the context trusts for that name"
      else "the handshake has failed"
    val clear = SSLHandshakeException(
      s"Tcp.connectTls: $address: $reason: ${error.getMessage}. For a server with a certificate " +
        "of its own, pass a context that trusts it."
    )
    clear.initCause(error): Unit
    clear
