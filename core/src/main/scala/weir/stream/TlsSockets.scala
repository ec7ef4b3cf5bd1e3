package weir.stream

import java.io.{FilterInputStream, IOException, InputStream, OutputStream}
import java.net.{InetAddress, ServerSocket, Socket, SocketException}
import java.security.cert.CertificateException
import javax.net.ssl.{SSLContext, SSLHandshakeException, SSLParameters, SSLSocket}

/** Layers of TLS over sockets that are connected. The sockets stay those of their users: closing
  * one ends what waits in its layer.
  */
private[weir] object TlsSockets:

  /** A socket for a layer. An end of its input is an error: the layer reads no further than to the
    * end that TLS announces.
    */
  final class Raw extends Socket:
    override def getInputStream: InputStream = EndlessInput(super.getInputStream)

  /** A server whose connections are for layers. */
  final class Listening(port: Int, backlog: Int, address: InetAddress)
      extends ServerSocket(port, backlog, address):
    override def accept(): Socket =
      val accepted = Raw()
      implAccept(accepted)
      accepted

  private final class EndlessInput(input: InputStream) extends FilterInputStream(input):
    override def read(): Int = checked(input.read())
    override def read(block: Array[Byte], from: Int, count: Int): Int =
      checked(input.read(block, from, count))

    private def checked(read: Int): Int =
      if read < 0 then
        throw SocketException(
          "the connection has ended, and TLS has not announced its end: bytes may be missing"
        )
      read

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
    catch case error: IOException => throw explained(error, s"$host:$port")
    layer

  /** Returns what makes the layer of a server, whose handshake is a part of its first use. Sets the
    * parameters of a socket of its own first, so that wrong ones fail here.
    */
  def server(context: SSLContext, change: SSLParameters => Unit): Socket => Socket =
    val sample = context.getSocketFactory.createSocket().asSecured
    sample.setUseClientMode(false)
    val parameters = sample.getSSLParameters
    change(parameters)
    sample.setSSLParameters(parameters)
    socket =>
      val layer = context.getSocketFactory.createSocket(socket, null, true).asSecured
      layer.setSSLParameters(parameters)
      layer

  /** Ends the output. A layer does its handshake first, since it says nothing before. Before
    * version 1.3 of TLS, the end of the output is that of the input too.
    */
  def shutdownOutput(socket: Socket): Unit =
    socket match
      case layer: SSLSocket if layer.getSession.getProtocol != "TLSv1.3" =>
        throw IOException(
          s"Tcp.Connection.endOfOutput: the protocol is ${layer.getSession.getProtocol}. Only " +
            "TLSv1.3 can end the output alone."
        )
      case _ => ()
    socket.shutdownOutput()

  /** Ends the output of `layer`, and reads the input of `socket` to its end: the system throws away
    * what a socket has still to send if its input is not read when it is closed. Does nothing
    * before the handshake.
    */
  def sayGoodbye(layer: Socket, socket: Socket): Unit =
    if layer.asSecured.getApplicationProtocol ne null then
      if !layer.isOutputShutdown then layer.shutdownOutput()
      socket.getInputStream.transferTo(OutputStream.nullOutputStream()): Unit

  extension (socket: Socket) private def asSecured: SSLSocket = socket.asInstanceOf[SSLSocket]

  private def explained(error: IOException, address: String): SSLHandshakeException =
    val causes = Iterator.iterate[Throwable | Null](error)(_.nn.getCause).takeWhile(_ ne null)
    val reason =
      if causes.exists(_.isInstanceOf[CertificateException]) then
        "the certificate of the server is not one that the context trusts for that name: " +
          s"${error.getMessage}. For a server with a certificate of its own, pass a context that " +
          "trusts it."
      else s"the handshake has failed: ${error.getMessage}."
    val clear = SSLHandshakeException(s"Tcp.connectTls: $address: $reason")
    clear.initCause(error): Unit
    clear
