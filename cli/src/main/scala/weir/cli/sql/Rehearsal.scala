package weir.cli.sql

import java.io.{BufferedOutputStream, DataInputStream, DataOutputStream, IOException}
import java.net.{StandardProtocolFamily, UnixDomainSocketAddress}
import java.nio.channels.{Channels, ServerSocketChannel, SocketChannel}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import weir.{Resource, Task}

/** What plays the server while the launcher makes the start-up cache: it agrees to everything, and keeps nothing.
  *
  * The cache holds what a run has loaded, and without a server that is neither the driver nor the sending, which are half
  * of the start. The messages are those of PostgreSQL's protocol 3.0, "Message Formats".
  */
object Rehearsal:
  /** Whether this run is one, which only the launcher says. */
  def isOne: Boolean = sys.props.contains("weir.rehearsal")

  /** The URL of a server in this process. */
  val resource: Resource[String] =
    for
      folder <- Resource.make(Task(Files.createTempDirectory("weir-rehearsal")))(folder =>
        Task(Files.delete(folder))
      )
      _ <- Resource.make(Task(listen(folder)))(server =>
        Task:
          server.close()
          Files.delete(socket(folder))
      )
    yield s"postgresql:///rehearsal?host=$folder&port=5432&user=rehearsal"

  private def socket(folder: Path): Path = folder.resolve(".s.PGSQL.5432")

  private def listen(folder: Path): ServerSocketChannel =
    val server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
    server.bind(UnixDomainSocketAddress.of(socket(folder))): Unit
    Thread.ofVirtual().start { () =>
      try
        while true do
          val client = server.accept()
          Thread.ofVirtual().start(() => serve(client)): Unit
      catch case _: IOException => () // closed
    }: Unit
    server

  private def serve(client: SocketChannel): Unit =
    val in = DataInputStream(Channels.newInputStream(client))
    val out = Answers(DataOutputStream(BufferedOutputStream(Channels.newOutputStream(client))))
    try
      in.skipNBytes(in.readInt() - 4L)
      out.welcome()
      while true do
        val kind = in.readByte()
        val body = in.readNBytes(in.readInt() - 4)
        kind match
          case 'Q' if String(body, UTF_8).startsWith("COPY") => out.copyIn()
          case 'Q' => out.done("SELECT 0")
          case 'c' => out.done("COPY 0")
          case _ => ()
    catch case _: IOException => () // the client has gone
    finally client.close()

  private final class Answers(out: DataOutputStream):
    def welcome(): Unit =
      message('R', Array.ofDim(4))
      for (name, value) <- settings do message('S', s"$name\u0000$value\u0000".getBytes(UTF_8))
      message('K', Array.ofDim(8))
      ready()

    def copyIn(): Unit =
      message('G', Array.ofDim(3)) // text, and columns that nobody asks about
      out.flush()

    def done(tag: String): Unit =
      message('C', s"$tag\u0000".getBytes(UTF_8))
      ready()

    private def ready(): Unit =
      message('Z', Array('I'))
      out.flush()

    private def message(kind: Char, body: Array[Byte]): Unit =
      out.writeByte(kind)
      out.writeInt(body.length + 4)
      out.write(body)

  private val settings = List(
    "server_version" -> "15.0",
    "client_encoding" -> "UTF8",
    "server_encoding" -> "UTF8",
    "DateStyle" -> "ISO, MDY",
    "TimeZone" -> "UTC",
    "integer_datetimes" -> "on",
    "standard_conforming_strings" -> "on"
  )
