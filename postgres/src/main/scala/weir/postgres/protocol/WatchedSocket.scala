package weir.postgres.protocol

import java.io.{IOException, InputStream, OutputStream}
import java.net.{Socket, SocketAddress, SocketImpl}
import jdk.net.ExtendedSocketOptions

/** A socket whose incoming bytes go through a `WatchedInput`, and outgoing ones through a
  * `WatchedOutput`.
  */
private[postgres] trait WatchedSocket:
  self: Socket =>
  def input: WatchedInput
  def output: WatchedOutput

  /** Closes the socket without a message to the server, while other threads may be reading or
    * writing.
    */
  def abort(): Unit = close()

  /** Reads the server's last messages, which may still be in the socket when nothing can be written
    * any more.
    */
  protected def readLastMessage(): Unit =
    try
      setSoTimeout(WatchedSocket.LastMessageMillis)
      input.readToTheEnd()
    catch case _: IOException => ()

private object WatchedSocket:
  private val LastMessageMillis = 1000

/** The JDK's own TCP socket, watched. */
private[postgres] final class TcpSocket(
    notice: Array[Byte] => Unit,
    startup: StartupPacket,
    target: SocketAddress => SocketAddress,
    connectMillis: Int => Int
) extends Socket,
      WatchedSocket:
  lazy val input: WatchedInput = WatchedInput(super.getInputStream, () => getSoTimeout, notice)
  lazy val output: WatchedOutput =
    WatchedOutput(super.getOutputStream, input.messages, startup, () => readLastMessage())

  override def getInputStream: InputStream = input
  override def getOutputStream: OutputStream = output

  override def connect(address: SocketAddress, timeoutMillis: Int): Unit =
    super.connect(target(address), connectMillis(timeoutMillis))

  /** Sets the intervals too: the system's defaults are hours. */
  override def setKeepAlive(on: Boolean): Unit =
    super.setKeepAlive(on)
    if on then
      for (option, value) <- TcpSocket.KeepAlive if supportedOptions.contains(option) do
        setOption(option, value)

private[postgres] object TcpSocket:
  /** A peer that is gone without closing the connection is noticed after two minutes. */
  private val KeepAlive = List[(java.net.SocketOption[Integer], Integer)](
    ExtendedSocketOptions.TCP_KEEPIDLE -> 60,
    ExtendedSocketOptions.TCP_KEEPINTERVAL -> 10,
    ExtendedSocketOptions.TCP_KEEPCOUNT -> 6
  )

/** A Unix domain socket in the form that the driver needs: a `java.net.Socket`. It ignores the
  * address that `connect` gets.
  */
private[postgres] final class UnixSocket(
    path: java.nio.file.Path,
    notice: Array[Byte] => Unit,
    startup: StartupPacket
) extends Socket(null: SocketImpl),
      WatchedSocket:
  private val streams = UnixStreams(path)
  @volatile private var readTimeoutMillis = 0

  val input: WatchedInput =
    WatchedInput(streams.input(() => readTimeoutMillis), () => readTimeoutMillis, notice)
  val output: WatchedOutput =
    WatchedOutput(streams.output, input.messages, startup, () => readLastMessage())

  override def connect(address: java.net.SocketAddress, timeoutMillis: Int): Unit =
    streams.connect()
  override def connect(address: java.net.SocketAddress): Unit = streams.connect()
  override def bind(address: java.net.SocketAddress): Unit = ()
  override def getInputStream: InputStream = input
  override def getOutputStream: OutputStream = output
  override def close(): Unit = streams.close()
  override def shutdownInput(): Unit = streams.shutdownInput()
  override def shutdownOutput(): Unit = streams.shutdownOutput()

  override def isConnected: Boolean = streams.isConnected
  override def isBound: Boolean = streams.isConnected
  override def isClosed: Boolean = streams.isClosed
  override def isInputShutdown: Boolean = false
  override def isOutputShutdown: Boolean = false

  override def setSoTimeout(millis: Int): Unit = readTimeoutMillis = millis
  override def getSoTimeout: Int = readTimeoutMillis
  override def getSendBufferSize: Int = UnixStreams.SocketBytes
  override def setSendBufferSize(bytes: Int): Unit = ()
  override def getReceiveBufferSize: Int = UnixStreams.SocketBytes
  override def setReceiveBufferSize(bytes: Int): Unit = ()

  // Methods that only TCP has.
  override def setTcpNoDelay(on: Boolean): Unit = ()
  override def getTcpNoDelay: Boolean = true
  override def setKeepAlive(on: Boolean): Unit = ()
  override def getKeepAlive: Boolean = false
  override def setSoLinger(on: Boolean, seconds: Int): Unit = ()
  override def getSoLinger: Int = -1
  override def setTrafficClass(value: Int): Unit = ()
  override def getTrafficClass: Int = 0
  override def setReuseAddress(on: Boolean): Unit = ()
  override def getReuseAddress: Boolean = false

  override def getInetAddress: java.net.InetAddress | Null = null
  override def getLocalAddress: java.net.InetAddress = java.net.InetAddress.getLoopbackAddress
  override def getPort: Int = 0
  override def getLocalPort: Int = -1
  override def getRemoteSocketAddress: java.net.SocketAddress =
    java.net.UnixDomainSocketAddress.of(path)
  override def getLocalSocketAddress: java.net.SocketAddress | Null = null
  override def toString: String = s"UnixSocket($path)"
