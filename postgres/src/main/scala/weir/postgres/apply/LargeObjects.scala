package weir.postgres.apply

import java.io.{BufferedOutputStream, IOException, OutputStream}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import weir.Task
import weir.postgres.{Done, Piece, Session}
import weir.postgres.protocol.Lane
import weir.postgres.psql.{CommandProblem, Folder, Variables}

/** Carries out `\lo_import`, `\lo_export` and `\lo_unlink` by statements that call the functions of
  * the server. As in psql, they leave the variables of the last statement as they are.
  */
private[apply] final class LargeObjects(
    session: Session,
    delivery: Delivery,
    variables: Variables,
    run: CommandRunner.Run
):
  import LargeObjects.*
  import run.running.{echo, last}

  def carryOut(command: Piece.Command)(using Task.Direct): Unit =
    val before = last.variables
    val echoed = echo.value
    echo.value = "none" // the statements are not the script's
    try
      command.name match
        case "lo_import" => add(command, command.arguments.head, command.arguments.drop(1))
        case "lo_export" => copy(command, command.arguments.head, command.arguments(1))
        case _ => remove(command, command.arguments.head)
    finally
      last.variables = before
      echo.value = echoed

  private def add(command: Piece.Command, file: String, comment: List[String])(using
      Task.Direct
  ): Unit =
    val isSkipping = delivery.isSkipping(command.start)
    val content = if isSkipping then Array.emptyByteArray else read(file)
    val oid = ask(command, creating(content))
    if oid ne null then
      for text <- comment do
        ask(command, bytes(s"COMMENT ON LARGE OBJECT $oid IS ${Lane.literal(text)}")): Unit
      variables.set("LASTOID", oid): Unit
      if !isSkipping then run.output.tell(s"lo_import $oid\n")

  private def copy(command: Piece.Command, oid: String, file: String)(using Task.Direct): Unit =
    val isSkipping = delivery.isSkipping(command.start)
    val target = if isSkipping then OutputStream.nullOutputStream() else Unhex(Path.of(file))
    val draining = CopyOutput.Draining(target)
    session.copyTarget = draining
    val sql = s"COPY (SELECT pg_catalog.encode(pg_catalog.lo_get($oid), 'hex')) TO STDOUT"
    last.succeeded(Done(0, ""))
    try run.deliver(statement(command, bytes(sql), Piece.Answer.Copied))
    finally
      val failure = draining.end()
      if failure ne null then throw CopyOutput.problem(file, failure)
    if !isSkipping && !last.isError then run.output.tell("lo_export\n")

  private def remove(command: Piece.Command, oid: String)(using Task.Direct): Unit =
    val removed = ask(command, bytes(s"SELECT pg_catalog.lo_unlink($oid)"))
    if (removed ne null) && !delivery.isSkipping(command.start) then
      run.output.tell(s"lo_unlink $oid\n")

  /** Returns the value that the statement returns; null if it has failed or returns none. */
  private def ask(command: Piece.Command, sql: Array[Byte])(using Task.Direct): String | Null =
    run.deliver(statement(command, sql, Piece.Answer.Kept))
    val kept = session.takeRows()
    if kept eq null then null else kept.rows.head.head

  private def statement(command: Piece.Command, sql: Array[Byte], answer: Piece.Answer) =
    Piece.Statement(
      sql,
      false,
      command.start,
      command.endOffset,
      List(Piece.Jump(0, command.start, stays = true)),
      answer,
      reading = session.reading
    )

private object LargeObjects:
  private def bytes(sql: String): Array[Byte] = sql.getBytes(ISO_8859_1)

  private def read(file: String): Array[Byte] =
    val path = Path.of(file)
    val missing = Folder.problem(path)
    if missing ne null then throw unread(file, missing)
    try
      if Files.size(path) > MostBytes then throw unread(file, s"it has more than $MostBytes bytes")
      Files.readAllBytes(path)
    catch case error: IOException => throw unread(file, s"${error.getMessage}")

  private def unread(file: String, problem: String) = CommandProblem(
    Variables.bytes(s"$file: $problem"),
    "Relative names begin in the current folder. psql imports a larger file in parts."
  )

  /** The statement has each byte as two digits, and a server takes a gigabyte. */
  private val MostBytes = 500_000_000L

  private def creating(content: Array[Byte]): Array[Byte] =
    val (before, after) = ("SELECT pg_catalog.lo_from_bytea(0, pg_catalog.decode('", "', 'hex'))")
    val sql = new Array[Byte](before.length + 2 * content.length + after.length)
    System.arraycopy(bytes(before), 0, sql, 0, before.length)
    var at = before.length
    for byte <- content do
      sql(at) = digit((byte >> 4) & 15)
      sql(at + 1) = digit(byte & 15)
      at += 2
    System.arraycopy(bytes(after), 0, sql, at, after.length)
    sql

  private def digit(value: Int): Byte = Character.forDigit(value, 16).toByte

  /** Writes the bytes whose digits it gets; opens its target for the first. */
  private final class Unhex(file: Path) extends OutputStream:
    private lazy val target = BufferedOutputStream(Files.newOutputStream(file), 64 << 10)
    private var isOpen = false
    private var high = -1

    def write(byte: Int): Unit =
      isOpen = true
      val out = target
      val value = Character.digit(byte, 16) // -1 for the end of the row
      if value >= 0 then
        if high < 0 then high = value
        else
          out.write(high << 4 | value)
          high = -1

    override def flush(): Unit = if isOpen then target.flush()
    override def close(): Unit = if isOpen then target.close()
