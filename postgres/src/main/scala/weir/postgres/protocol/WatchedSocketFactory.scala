package weir.postgres.protocol

import java.net.{InetAddress, InetSocketAddress, Socket, SocketAddress}
import java.nio.file.Path
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}
import javax.net.SocketFactory
import javax.net.ssl.SSLSocket

/** Makes the sockets of one connection for the driver, which instantiates this class by name with
  * one argument: the key of the connection that is being opened.
  */
final class WatchedSocketFactory private[postgres] (opening: WatchedSocketFactory.Opening)
    extends SocketFactory:

  def this(key: String) = this(WatchedSocketFactory.find(key))

  override def createSocket(): Socket = opening.newSocket()

  override def createSocket(host: String, port: Int): Socket = refused
  override def createSocket(host: String, port: Int, local: InetAddress, localPort: Int): Socket =
    refused
  override def createSocket(host: InetAddress, port: Int): Socket = refused
  override def createSocket(
      host: InetAddress,
      port: Int,
      local: InetAddress,
      localPort: Int
  ): Socket = refused

  private def refused: Nothing =
    throw UnsupportedOperationException("The driver connects its sockets itself.")

private[postgres] object WatchedSocketFactory:
  private val ConnectGraceMillis = 500L
  private val openings = ConcurrentHashMap[String, Opening]()

  private def find(key: String): Opening =
    val opening = openings.get(key)
    require(opening ne null, s"WatchedSocketFactory: no connection is being opened with key $key.")
    opening

  /** `tls`, watched for the connection that is being opened with this key; unchanged if there is
    * none, since the user has given the driver another socket factory.
    */
  private[protocol] def tlsSocket(key: String | Null, under: Socket, tls: SSLSocket): Socket =
    val opening = if key eq null then null else openings.get(key)
    if opening eq null then tls else opening.tlsSocket(under, tls)

  /** A connection that is being opened: over TCP, or to the socket file at `unix`.
    *
    * @param timeoutMillis
    *   the time within which the server must accept the session on each socket; 0 for no limit
    * @param addresses
    *   the addresses to use for a host with this port, instead of a look-up of its name
    */
  final class Opening(
      unix: Option[Path],
      notice: Array[Byte] => Unit,
      startup: StartupPacket,
      timeoutMillis: Long = 0,
      addresses: Map[(String, Int), Vector[InetAddress]] = Map.empty
  ):
    private val over = CountDownLatch(1)
    private var tried = Map.empty[(String, Int), Int]
    @volatile private var timedOut = false

    @volatile private var last: (Socket & WatchedSocket) | Null = null
    @volatile private var opened = false
    @volatile private var aborted = false
    val key: String = java.util.UUID.randomUUID().toString

    /** The socket of the connection is the last one that was made before it was open: an attempt
      * may fail and be made again, without encryption or elsewhere, and each cancel request makes
      * one afterwards.
      */
    def newSocket(): Socket =
      val socket = unix match
        case Some(path) => UnixSocket(path, notice, startup)
        case None => TcpSocket(notice, startup, target, connectMillis)
      if !opened then limit(socket)
      made(socket)

    /** Returns true if the server of the last attempt has accepted the connection and not answered
      * in time.
      */
    def hasTimedOut: Boolean = timedOut

    /** The driver limits the time to connect, but not the time until the server answers, nor that
      * of encryption.
      */
    private def limit(socket: Socket & WatchedSocket): Unit =
      timedOut = false
      if timeoutMillis > 0 then
        val end = new Runnable:
          def run(): Unit =
            var isLate = !over.await(timeoutMillis, TimeUnit.MILLISECONDS)
            // A socket that is still connecting times out by itself now.
            if isLate && !socket.isConnected then
              isLate = !over.await(ConnectGraceMillis, TimeUnit.MILLISECONDS)
            if isLate && !socket.isClosed then
              timedOut = socket.isConnected
              socket.abort()
        Thread.ofVirtual().name("weir-connect-timeout").start(end): Unit

    /** Instead of the driver's time-out, which for a second host is only the time that the first
      * one has left.
      */
    private def connectMillis(ofDriver: Int): Int =
      if opened || timeoutMillis == 0 then ofDriver else timeoutMillis.min(Int.MaxValue).toInt

    /** Each attempt takes the next address in the list; once the connection is open, a cancel
      * request takes the same address.
      */
    private def target(address: SocketAddress): SocketAddress = address match
      case inet: InetSocketAddress =>
        val key = (inet.getHostString, inet.getPort)
        addresses.get(key).fold(inet) { known =>
          val count = tried.getOrElse(key, 0) + (if opened then 0 else 1)
          tried = tried.updated(key, count)
          InetSocketAddress(known((count - 1) % known.size), inet.getPort)
        }
      case other => other

    /** Encrypts what `under` sends, which the driver has connected. */
    def tlsSocket(under: Socket, tls: SSLSocket): Socket = made(
      TlsSocket(under, tls, notice, startup)
    )

    private def made(socket: Socket & WatchedSocket): Socket =
      if !opened then
        last = socket
        if aborted then socket.abort() // the driver cannot connect it any more
      socket

    def register(): Unit = openings.put(key, this): Unit

    /** The socket; null if the driver has made it with another factory, which the user has given.
      */
    def finish(): (Socket & WatchedSocket) | Null =
      opened = true
      over.countDown()
      openings.remove(key)
      last

    /** Ends the attempt to connect, and prevents further ones. */
    def abort(): Unit =
      aborted = true
      val socket = last // pairs with the write in `made`, after which that reads `aborted`
      if socket ne null then socket.abort()
