package weir.postgres.send

import java.io.{IOException, InputStream, OutputStream}
import java.net.{Socket, SocketAddress, SocketImpl}
import jdk.net.ExtendedSocketOptions

/** A socket whose incoming bytes go through an `Inbox`, and outgoing ones through an `Outbox`. */
private[postgres] trait WatchedSocket:
  self: Socket =>
  def inbox: Inbox
  def outbox: Outbox

  /** Closes without a word to the server, whoever is reading or writing. */
  def abort(): Unit = close()

  /** What the server has said last may still be there where nothing can be sent to it any more. */
  protected def hearLastWord(): Unit =
    try
      setSoTimeout(WatchedSocket.LastWordMillis)
      inbox.readToTheEnd()
    catch case _: IOException => ()

private object WatchedSocket:
  private val LastWordMillis = 1000

/** The JDK's own TCP socket, watched. */
private[postgres] final class TcpSocket(
    notice: Array[Byte] => Unit,
    startup: StartupPacket,
    target: SocketAddress => SocketAddress,
    connectMillis: Int => Int
) extends Socket,
      WatchedSocket:
  lazy val inbox: Inbox = Inbox(super.getInputStream, () => getSoTimeout, notice)
  lazy val outbox: Outbox =
    Outbox(super.getOutputStream, inbox.messages, startup, () => hearLastWord())

  override def getInputStream: InputStream = inbox
  override def getOutputStream: OutputStream = outbox

  override def connect(address: SocketAddress, timeoutMillis: Int): Unit =
    super.connect(target(address), connectMillis(timeoutMillis))

  /** The system's own times are hours. */
  override def setKeepAlive(on: Boolean): Unit =
    super.setKeepAlive(on)
    if on then
      for (option, value) <- TcpSocket.KeepAlive if supportedOptions.contains(option) do
        setOption(option, value)

private[postgres] object TcpSocket:
  /** A peer that is gone without a word is noticed after two minutes. */
  private val KeepAlive = List[(java.net.SocketOption[Integer], Integer)](
    ExtendedSocketOptions.TCP_KEEPIDLE -> 60,
    ExtendedSocketOptions.TCP_KEEPINTERVAL -> 10,
    ExtendedSocketOptions.TCP_KEEPCOUNT -> 6
  )

/** A Unix domain socket as the driver wants its sockets: a `java.net.Socket`, whatever address it is told to connect to. */
private[postgres] final class UnixSocket(
    path: java.nio.file.Path,
    notice: Array[Byte] => Unit,
    startup: StartupPacket
) extends Socket(null: SocketImpl),
      WatchedSocket:
  private val streams = UnixStreams(path)
  @volatile private var readTimeoutMillis = 0

  val inbox: Inbox = Inbox(streams.input(() => readTimeoutMillis), () => readTimeoutMillis, notice)
  val outbox: Outbox = Outbox(streams.output, inbox.messages, startup, () => hearLastWord())

  override def connect(address: java.net.SocketAddress, timeoutMillis: Int): Unit =
    streams.connect()
  override def connect(address: java.net.SocketAddress): Unit = streams.connect()
  override def bind(address: java.net.SocketAddress): Unit = ()
  override def getInputStream: InputStream = inbox
  override def getOutputStream: OutputStream = outbox
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

  // What is TCP's alone.
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
