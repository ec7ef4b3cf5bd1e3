package weir.cli.sql

import java.io.{BufferedOutputStream, DataInputStream, DataOutputStream, IOException}
import java.net.{StandardProtocolFamily, UnixDomainSocketAddress}
import java.nio.ByteBuffer
import java.nio.channels.{Channels, ServerSocketChannel, SocketChannel}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import weir.{Resource, Task}

/** Simulates a server while the launcher makes the start-up cache: it accepts everything and stores
  * nothing.
  *
  * The cache holds the classes that a run has loaded. Without a server those would lack the driver
  * and the sending, which are half of the start. The messages are those of PostgreSQL's protocol
  * 3.0, "Message Formats".
  */
object Rehearsal:
  /** Returns true if this run is one, which only the launcher says. */
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
          case 'Q' => answer(out, String(body, UTF_8))
          case 'c' => out.done("COPY 0")
          case _ => ()
    catch case _: IOException => () // the client has gone
    finally client.close()

  /** Queries get one row, which says that nothing is special. */
  private def answer(out: Answers, sql: String): Unit =
    if sql.startsWith("COPY") then out.copyIn()
    else
      if sql.startsWith("SELECT session_user") then out.row("rehearsal")
      else if sql.contains("to_regclass") then out.row("1", "f", "f")
      else if sql.startsWith("SELECT kind") then out.row("none", "", "")
      out.done("SELECT 1")

  private final class Answers(out: DataOutputStream):
    def welcome(): Unit =
      message('R', Array.ofDim(4))
      for (name, value) <- settings do message('S', s"$name\u0000$value\u0000".getBytes(UTF_8))
      message('K', Array.ofDim(8))
      ready()

    def copyIn(): Unit =
      message('G', Array.ofDim(3)) // text, and columns that are never read
      out.flush()

    def row(values: String*): Unit =
      val columns = values.map(_ => "column\u0000".getBytes(UTF_8) ++ Answers.textColumn)
      message('T', Answers.count(values.size) ++ columns.flatten)
      val data = values.map(_.getBytes(UTF_8)).flatMap(value => Answers.length(value) ++ value)
      message('D', Answers.count(values.size) ++ data)

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

  private object Answers:
    def count(value: Int): Array[Byte] = ByteBuffer.allocate(2).putShort(value.toShort).array
    def length(value: Array[Byte]): Array[Byte] = ByteBuffer.allocate(4).putInt(value.length).array

    /** Of no table, of the type text, of any length, as text. */
    val textColumn: Array[Byte] =
      val column = ByteBuffer.allocate(18).putInt(0).putShort(0)
      column.putInt(25).putShort(-1).putInt(-1).putShort(0).array

  private val settings = List(
    "server_version" -> "15.0",
    "client_encoding" -> "UTF8",
    "server_encoding" -> "UTF8",
    "DateStyle" -> "ISO, MDY",
    "TimeZone" -> "UTC",
    "integer_datetimes" -> "on",
    "standard_conforming_strings" -> "on"
  )
