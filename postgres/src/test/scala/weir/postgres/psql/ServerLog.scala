package weir.postgres.psql

import java.io.RandomAccessFile
import java.nio.file.{Files, Path}
import scala.util.Using

/** The statements that the server got and its errors, read from its log in CSV. */
final class ServerLog(file: Path):
  import ServerLog.*

  private var read = 0L
  private var rows = Vector.empty[Vector[String]]

  /** Forgets what has been logged up to now. */
  def forget(): Unit =
    readOn()
    rows = Vector.empty

  /** Returns the log of the session with `database` that has ended since then; the first, if there
    * are several.
    *
    * **Waits** until the server has logged its end.
    */
  def session(database: String): Vector[Event] =
    val deadline = System.nanoTime() + 10_000_000_000L
    var found = Option.empty[Vector[Event]]
    while found.isEmpty do
      found = sessions(database).headOption
      if found.isEmpty then
        if System.nanoTime() > deadline then
          throw AssertionError(s"No session with $database has ended.")
        Thread.sleep(1)
    found.get

  /** Returns the log of all sessions with these databases since then, in the order of its records.
    *
    * **Waits** until the server has logged the end of those that have sent something.
    *
    * @param mark
    *   a statement that the suite has sent after them
    */
  def ofAll(databases: Seq[String], mark: String): Vector[Event] =
    val deadline = System.nanoTime() + 10_000_000_000L
    var found = Option.empty[Vector[Event]]
    while found.isEmpty do
      readOn()
      val own = rows.filter(_(application) == suite).map(_(sessionId)).toSet
      val ours = rows.filter(row => databases.contains(row(base)) && !own(row(sessionId)))
      val (ends, others) = ours.partition(_(message).startsWith("disconnection: "))
      val ended = ends.map(_(sessionId)).toSet
      val isComplete = rows.exists(_(message) == statement + mark)
      if isComplete && others.forall(row => ended(row(sessionId))) then
        found = Some(others.flatMap(event))
      else
        if System.nanoTime() > deadline then throw AssertionError("A session has not ended.")
        Thread.sleep(1)
    found.get

  /** The sessions with `database` that have ended since then, in the order of their ends. */
  def sessions(database: String): Vector[Vector[Event]] =
    readOn()
    val others = rows.filter(row => row(base) == database && row(application) != suite)
    val ended = others.filter(_(message).startsWith("disconnection: ")).map(_(sessionId))
    ended.map(id => others.filter(_(sessionId) == id).flatMap(event))

  /** The server may be in the middle of writing a record, which is then left for the next time. */
  private def readOn(): Unit =
    if Files.exists(file) then
      Using.resource(RandomAccessFile(file.toFile, "r")) { log =>
        val bytes = new Array[Byte]((log.length() - read).toInt)
        log.seek(read)
        log.readFully(bytes)
        val (records, length) = Csv.complete(bytes)
        rows ++= records
        read += length
      }

  private def event(row: Vector[String]): Option[Event] =
    val text = row(message)
    if severities(row(severity)) then
      Some(
        Event
          .Failed(row(state), text, row(detail), row(hint), row(context), row(query), row(position))
      )
    else if text.startsWith(statement) then Some(Event.Sent(text.drop(statement.length)))
    else if text.startsWith("execute ") then Some(Event.Sent(text))
    else None

object ServerLog:
  /** The application whose statements are left out. */
  val suite = "weir-suite"

  enum Event:
    /** A statement, as the server got it. */
    case Sent(sql: String)

    /** An error. `position` counts the characters of `query`, from 1. */
    case Failed(
        state: String,
        message: String,
        detail: String,
        hint: String,
        context: String,
        query: String,
        position: String
    )

  private val statement = "statement: "
  private val severities = Set("ERROR", "FATAL", "PANIC")

  // Columns, from 0, as in the manual's chapter about csvlog.
  private val base = 2
  private val sessionId = 5
  private val severity = 11
  private val state = 12
  private val message = 13
  private val detail = 14
  private val hint = 15
  private val context = 18
  private val query = 19
  private val position = 20
  private val application = 22
