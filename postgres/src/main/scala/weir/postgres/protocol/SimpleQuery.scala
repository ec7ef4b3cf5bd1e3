package weir.postgres.protocol

import java.nio.charset.Charset
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.sql.{SQLException, SQLWarning}
import org.postgresql.core.{
  Field,
  NativeQuery,
  Query,
  QueryExecutor,
  ResultCursor,
  ResultHandlerBase,
  SqlCommand,
  Tuple
}
import org.postgresql.util.PSQLWarning
import scala.jdk.CollectionConverters.*
import weir.postgres.{Done, Encodings, LongText, ScriptConnection}

/** Sends one statement by the simple query protocol, without the driver's parser and its results.
  *
  * The driver would look for parameters in a statement, split it and rewrite it, and the server's
  * error positions would not be the script's.
  */
private[postgres] final class SimpleQuery(
    connection: ScriptConnection,
    dispatcher: NoticeDispatcher
):
  import SimpleQuery.*

  private val executor = connection.driver.getQueryExecutor

  /** Sends the statement: all of `long`, if `statement` is only a part of it.
    *
    * @param rows
    *   gets the rows; null if they are dropped
    */
  def execute(
      statement: Array[Byte],
      long: LongText | Null = null,
      rows: RowSink | Null = null
  ): Done =
    val socket = connection.watchedSocket
    if (rows ne null) && (socket eq null) then executeUnwatched(statement, long, rows)
    else
      val outcome = Outcome(dispatcher)
      if socket ne null then socket.input.messages.rows = rows
      try run(statement, long, outcome, dropsRows = true)
      finally if socket ne null then socket.input.messages.rows = null
      outcome.done

  /** As `execute`, with the rows that the driver has kept: those of the last statement. */
  private def executeUnwatched(
      statement: Array[Byte],
      long: LongText | Null,
      rows: RowSink
  ): Done =
    val (done, kept) = executeKeeping(statement, long)
    if kept ne null then
      rows.columns(kept.names.map(_.getBytes(ISO_8859_1)), kept.types)
      for row <- kept.rows do
        rows.row(row.map(v => if v eq null then null else v.getBytes(ISO_8859_1)).toArray)
    rows.completed(done.tag)
    done

  /** As `execute`; returns the last rows, too, or null if there are none. */
  def executeKeeping(statement: Array[Byte], long: LongText | Null): (Done, KeptRows | Null) =
    val charset = Encodings.charset(connection.encoding)
    val outcome = Keeping(dispatcher, name => String(name.getBytes(charset), ISO_8859_1))
    run(statement, long, outcome, dropsRows = false)
    (outcome.done, outcome.kept)

  private def run(
      statement: Array[Byte],
      long: LongText | Null,
      outcome: Outcome,
      dropsRows: Boolean
  ): Unit =
    val socket = connection.watchedSocket
    val flags = if dropsRows then Flags | DropFlags else Flags
    dispatcher.isLive = true
    try
      if socket eq null then
        // The driver has it in memory.
        val all = if long eq null then statement else long.read(0, long.length)
        send(decode(all), outcome, flags)
      else
        socket.output.sendInstead(statement, long)
        socket.input.messages.dropsRows = dropsRows
        try send(Placeholder, outcome, flags)
        finally socket.input.messages.dropsRows = false
    finally dispatcher.isLive = false

  /** Sends the statements that `source` returns, one after the other, until it returns none.
    *
    * **Fails** with the error that `source` throws. Only for a watched connection.
    */
  def exchange(
      source: Exchange.Source,
      isCancelled: () => Boolean,
      rows: RowSink | Null = null
  ): Unit =
    val socket = connection.watchedSocket.nn
    val messages = socket.input.messages
    val exchange = Exchange(source, socket.output, isCancelled)
    val first = exchange.begin()
    exchange.run(() => messages.lastError) {
      if first ne null then
        socket.output.sendInstead(first)
        dispatcher.isLive = true
        messages.dropsRows = true
        messages.exchange = exchange
        messages.rows = rows
        try send(Placeholder, Outcome(dispatcher), Flags | DropFlags)
        finally
          messages.exchange = null
          messages.rows = null
          messages.dropsRows = false
          dispatcher.isLive = false
    }

  /** Sends messages of the extended protocol, and passes the answers to `call`, up to the last.
    *
    * Only for a watched connection.
    */
  def converse(messages: Array[Byte], call: ExtendedCall): Unit =
    val socket = connection.watchedSocket.nn
    socket.output.sendMessages(messages)
    socket.input.messages.extended = ExtendedExchange(call, socket.output)
    dispatcher.isLive = true
    try send(Placeholder, Outcome(dispatcher), Flags | DropFlags)
    finally
      socket.input.messages.extended = null
      dispatcher.isLive = false

  private def send(sql: String, outcome: Outcome, flags: Int): Unit =
    val query = executor.wrap(java.util.List.of(NativeQuery(sql, SqlCommand.BLANK)))
    executor.execute(query, null, outcome, 0, 0, flags)

  /** Returns the statement as the driver wants it, which encodes it again.
    *
    * **Fails** if the driver would make other bytes of it.
    */
  def decode(statement: Array[Byte]): String =
    val charset = Charset.forName(executor.getEncoding.name)
    val text = String(statement, charset)
    if !java.util.Arrays.equals(text.getBytes(charset), statement) then
      throw SQLException(
        s"client_encoding ${connection.encoding} is not supported over this connection: the " +
          "driver does not know it",
        "22021"
      )
    text

private[postgres] object SimpleQuery:
  private val Placeholder = "-"
  private val Flags = QueryExecutor.QUERY_EXECUTE_AS_SIMPLE | QueryExecutor.QUERY_ONESHOT |
    QueryExecutor.QUERY_SUPPRESS_BEGIN
  private val DropFlags = QueryExecutor.QUERY_NO_RESULTS | QueryExecutor.QUERY_NO_METADATA

  private class Outcome(dispatcher: NoticeDispatcher) extends ResultHandlerBase:
    var done = Done(0, "")

    override def handleCommandStatus(tag: String, rows: Long, oid: Long): Unit =
      // The driver has -1 for a CALL, which returns no rows or one.
      done = Done(rows.max(0), tag)

    override def handleResultRows(
        query: Query,
        fields: Array[Field],
        tuples: java.util.List[Tuple],
        cursor: ResultCursor
    ): Unit = ()

    /** Called only on a connection that is not watched: a watched one keeps notices from the
      * driver.
      */
    override def handleWarning(warning: SQLWarning): Unit = warning match
      case said: PSQLWarning => dispatcher.receive(said.getServerErrorMessage)
      case _ => ()

  private final class Keeping(dispatcher: NoticeDispatcher, bytesOf: String => String)
      extends Outcome(dispatcher):
    var kept: KeptRows | Null = null

    override def handleCommandStatus(tag: String, rows: Long, oid: Long): Unit =
      super.handleCommandStatus(tag, rows, oid)
      kept = null // those rows were not of the last statement

    override def handleResultRows(
        query: Query,
        fields: Array[Field],
        tuples: java.util.List[Tuple],
        cursor: ResultCursor
    ): Unit =
      val names = fields.toVector.map(field => bytesOf(field.getColumnLabel))
      val rows = tuples.asScala.toVector.map: tuple =>
        Vector.tabulate(names.length): i =>
          val value: Array[Byte] | Null = tuple.get(i)
          if value eq null then null else String(value, ISO_8859_1)
      kept = KeptRows(names, rows, fields.toVector.map(_.getOID))
      done = Done(rows.length, s"SELECT ${rows.length}")
