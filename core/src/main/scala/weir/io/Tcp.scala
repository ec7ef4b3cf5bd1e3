package weir.io

import java.io.IOException
import java.net.{InetAddress, InetSocketAddress, ServerSocket, Socket, SocketException}
import java.util.concurrent.ConcurrentHashMap
import javax.net.ssl.{SSLContext, SSLParameters}
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import weir.stream.{BlockSource, ByteInput, Pull, TlsSockets}
import weir.{Outcome, Poll, Resource, Stream, Task}

/** TCP connections: incoming and outgoing ones. */
object Tcp:

  /** Connects to `port` of `host`. The connection is closed at the release.
    *
    * **Waits** until the other side accepts. **Cancelled** meanwhile: closes the socket, and does
    * not wait for a lookup of the host's name. **Fails** with an `IOException`.
    * {{{
    * val answer: Task[List[String]] = Tcp.connect("localhost", 7).use { connection =>
    *   connection.write("hello\n".getBytes) >>
    *     Text.lines(Text.utf8Decode(connection.bytes())).take(1).toList
    * }
    * }}}
    */
  def connect(host: String, port: Int): Resource[Connection] = Resource
    .makeFull(poll => connectTo(poll, Socket(), host, port).map(Connection(_)))((c, _) => c.close)

  /** As `connect`, with TLS: the connection is encrypted, and the server must have a certificate
    * for `host` that `context` trusts. `change` may set more parameters, such as those of ALPN.
    *
    * If the connection ends without the closing message of TLS (`close_notify`), a read fails with
    * an `IOException`, since an attacker may have cut the connection.
    *
    * **Waits** for the handshake too. **Fails** with an `SSLHandshakeException` if that fails, as
    * it does with another certificate. The release waits up to a second, until the other side has
    * closed the connection too, so that the written bytes arrive.
    * {{{
    * val secret: Task[Unit] =
    *   Tcp.connectTls("localhost", 853).use(connection => connection.write("hello\n".getBytes))
    * }}}
    */
  def connectTls(
      host: String,
      port: Int,
      context: => SSLContext = SSLContext.getDefault,
      change: SSLParameters => Unit = _ => ()
  ): Resource[Connection] =
    Resource.makeFull(poll =>
      connectTo(poll, TlsSockets.Raw(), host, port).flatMap { socket =>
        val handshake = Task.delay(TlsSockets.client(socket, host, port, context, change))
        closedUnless(poll(handshake.cancelable(Task(socket.close()))), socket)
          .map(Connection(socket, _))
      }
    )((connection, _) => connection.close)

  private def connectTo(poll: Poll, made: => Socket, host: String, port: Int): Task[Socket] =
    addressOf(poll, host).flatMap(address =>
      Task(made).flatMap { socket =>
        val connecting = Task.delay(socket.connect(InetSocketAddress(address, port)))
        closedUnless(poll(connecting.cancelable(Task(socket.close()))), socket).as(socket)
      }
    )

  /** Runs `task`, and closes `socket` unless it succeeds. */
  private def closedUnless[A](task: Task[A], socket: Socket): Task[A] = task.guaranteeCase {
    case Outcome.Succeeded(_) => Task.unit
    case _ => Task(socket.close())
  }

  /** Looks up `host`. The lookup is native code, which waits for name servers and which nothing
    * ends.
    */
  private def addressOf(poll: Poll, host: String): Task[InetAddress] =
    Task.abandonable(poll)(InetAddress.getByName(host))(_ => ())

  /** Listens at `port` of the address `host`, or at a free port if `port` is 0. At the release,
    * closes the server and all its connections.
    *
    * **Fails** with an `IOException` if the port is in use.
    * {{{
    * val port: Task[Int] = Tcp.listen(0).use(server => Task(server.port))
    * }}}
    */
  def listen(port: Int, host: String = "localhost", backlog: Int = 50): Resource[Server] =
    Resource
      .makeFull(addressOf(_, host))((_, _) => Task.unit)
      .flatMap(address => listenOn(ServerSocket(port, backlog, address)))

  /** As `listen`, with TLS: `context` has the certificate of this server and its key. `change` may
    * set more parameters, such as `setNeedClientAuth`. It is called once. If it sets an invalid
    * parameter, acquiring the resource **fails**.
    *
    * The handshake is a part of the first read or write of a connection. So if a client does not
    * speak TLS, or does not trust the certificate, only the `handle` of its connection fails, and
    * no other connection is delayed. Limit the time of the handshake there. The end of a connection
    * is as with `connectTls`.
    * {{{
    * def echo(context: javax.net.ssl.SSLContext) = Tcp.listenTls(8443, context).use(
    *   _.serve(limit = 1000)(c => c.writeAll(c.bytes()).timeout(1.minute).attempt)
    * )
    * }}}
    */
  def listenTls(
      port: Int,
      context: SSLContext,
      host: String = "localhost",
      backlog: Int = 50,
      change: SSLParameters => Unit = _ => ()
  ): Resource[Server] =
    Resource
      .makeFull(addressOf(_, host))((_, _) => Task.unit)
      .flatMap(address =>
        listenOn(TlsSockets.Listening(port, backlog, address), TlsSockets.server(context, change))
      )

  private[weir] def listenOn(
      socket: => ServerSocket,
      secured: Socket => Socket = identity
  ): Resource[Server] =
    Resource.make(Task(Server(socket, secured)))(server => Task(server.closeAll()))

  /** A listening socket.
    *
    *   - **Shared**: `open`, the connections that were accepted and are not released.
    *   - **The race that we fear**: a connection is accepted while `closeAll` goes through `open`,
    *     which misses it. `closeAll` closes the socket first, and `accept` checks for that after it
    *     has added the connection. So one of the two closes the connection.
    */
  final class Server private[Tcp] (socket: ServerSocket, secured: Socket => Socket):
    private val open = ConcurrentHashMap.newKeySet[Socket]()

    /** The port that it listens at. */
    val port: Int = socket.getLocalPort

    /** Emits the connections as they arrive. Each is accepted when the stream is asked for it.
      * Never ends by itself. A connection is closed at the release of its resource; a connection
      * that is not used is closed with the server.
      *
      * **Waits** for the next connection. If one cannot be accepted, as when the process has too
      * many files open, prints the error and tries again after a pause of 10 ms, which doubles each
      * time up to a second. **Cancelled** meanwhile: closes the server for good. **Fails** with an
      * `IOException` once the server is closed.
      * {{{
      * val first: Task[List[String]] = Tcp.listen(8080).use { server =>
      *   server.connections.flatMap(Stream.resource(_)).take(1).flatMap { connection =>
      *     connection.bytes().through(Text.utf8Decode).through(Text.lines)
      *   }.toList
      * }
      * }}}
      */
    val connections: Stream[Resource[Connection]] =
      Stream.repeatEval(acceptNext(Tcp.firstPause).cancelable(Task(socket.close())))

    /** Runs `handle` for each connection, for at most `limit` connections at a time, and closes the
      * connection after it. Never ends by itself. If a connection cannot be accepted, continues as
      * `connections` does. **Fails** with the first error of a `handle`, which cancels the others:
      * an error that concerns only its own connection must be handled in `handle`.
      * {{{
      * val echo: Task[Unit] = Tcp.listen(8080).use(
      *   _.serve(limit = 1000)(c => c.writeAll(c.bytes()).attempt)
      * )
      * }}}
      */
    def serve(limit: Int)(handle: Connection => Task[Any]): Task[Unit] =
      connections.parEvalMapUnordered(limit)(_.use(handle)).drain

    /** Accepts a connection, or tries again after `pause`. During the pause, open connections may
      * end, which frees what was missing.
      */
    private def acceptNext(pause: FiniteDuration): Task[Resource[Connection]] =
      Task.delay(accept()).handleErrorWith {
        case error: IOException if !socket.isClosed =>
          Task.onRuntime(_.report(s"Tcp.Server: accepting a connection at port $port", error)) >>
            Task.sleep(pause) >> acceptNext((pause * 2).min(Tcp.longestPause))
        case error => Task.fail(error)
      }

    /** Accepts a connection and adds it to `open` before a cancel can take effect. */
    private def accept(): Resource[Connection] =
      val accepted = socket.accept()
      open.add(accepted): Unit
      if socket.isClosed then
        accepted.close()
        throw SocketException("Tcp.Server: the server was closed while it accepted a connection.")
      val forget = Task(open.remove(accepted))
      val made = Task(Connection(accepted, secured(accepted)))
      Resource.make(closedUnless(made, accepted).onError(_ => forget))(connection =>
        forget.andThen(connection.close)
      )

    private[Tcp] def closeAll(): Unit = Pull.both(socket.close(), open.forEach(_.close()))

    /** Returns the number of connections that the release would close. */
    private[weir] def openConnections: Int = open.size

  /** A connection. One fiber may read from it while another writes to it. */
  final class Connection private[Tcp] (socket: Socket, secured: Socket):
    // `secured` is the layer of TLS over `socket`, or `socket` itself. A cancel closes `socket`,
    // since the close of a layer may wait for the other side.

    private[Tcp] def this(socket: Socket) = this(socket, socket)

    /** Returns the address of the other side. */
    def remote: InetSocketAddress = socket.getRemoteSocketAddress.asInstanceOf[InetSocketAddress]

    /** Emits the bytes that the other side sends, in blocks as each read returns them, at most
      * `blockBytes` in a block. Ends when the other side sends no more. The connection stays open
      * after that. Bytes that one stream has not read are read by the next one.
      *
      * **Cancelled** while it reads: closes the connection. **Fails** with an `IOException`.
      * {{{
      * def requests(connection: Tcp.Connection): Stream[String] =
      *   connection.bytes().through(Text.utf8Decode).through(Text.linesOfAtMost(8192))
      * }}}
      */
    def bytes(blockBytes: Int = 65536): Stream[Array[Byte]] =
      require(
        blockBytes >= 1,
        s"Tcp.Connection.bytes: the size of a block was $blockBytes. It must be at least 1."
      )
      BlockSource.stream(ByteInput.ofSocket(secured, cut), blockBytes)

    /** Sends all of `block`. **Waits** while the other side does not read. **Cancelled** meanwhile:
      * closes the connection. **Fails** with an `IOException`.
      * {{{
      * def greet(connection: Tcp.Connection): Task[Unit] = connection.write("hello\n".getBytes)
      * }}}
      */
    def write(block: Array[Byte]): Task[Unit] =
      Task.delay(secured.getOutputStream.write(block)).cancelable(cut)

    /** As `write`, for all of `blocks`.
      * {{{
      * def sendFile(connection: Tcp.Connection): Task[Unit] =
      *   connection.writeAll(Stream.fromPath(path))
      * }}}
      */
    def writeAll(blocks: Stream[Array[Byte]]): Task[Unit] = blocks.evalMap(write).drain

    /** Tells the other side that nothing more will be sent. The connection can still be read from.
      * **Fails** with an `IOException` with a version of TLS before 1.3, which ends both directions
      * at once.
      * {{{
      * def answer(connection: Tcp.Connection): Task[String] =
      *   connection.write("count\n".getBytes) >> connection.endOfOutput >>
      *     connection.bytes().through(Text.utf8Decode).mkString()
      * }}}
      */
    def endOfOutput: Task[Unit] =
      Task.delay(TlsSockets.shutdownOutput(secured)).cancelable(cut)

    private def cut: Task[Unit] = Task(socket.close())

    /** Closes the connection. A layer of TLS tells the other side, which must read that in time,
      * and close the connection too.
      */
    private[Tcp] def close: Task[Unit] =
      if secured eq socket then cut
      else
        Task
          .delay(TlsSockets.sayGoodbye(secured, socket))
          .cancelable(cut)
          .timeoutTo(longestGoodbye, Task.unit)
          .attempt
          .andThen(cut)

  private val longestGoodbye = 1.second
  private val firstPause = 10.millis
  private val longestPause = 1.second
