package weir.postgres.protocol

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.sql.SQLException
import java.util.HexFormat
import org.postgresql.util.PSQLException
import weir.postgres.{Done, Extended, Piece, ScriptConnection}

/** Sends one statement by the extended query protocol, as psql does after `\bind` and for `\gdesc`.
  */
private[postgres] final class ExtendedQuery(connection: ScriptConnection, simple: SimpleQuery):
  import ExtendedQuery.*

  /** Sends the statement in this form.
    *
    * @param rows
    *   gets the rows; null if they are dropped
    */
  def execute(statement: Piece.Statement, form: Extended, rows: RowSink | Null): Done =
    if connection.watchedSocket eq null then
      val problem = "the extended protocol needs a connection of ScriptConnection.open"
      throw SQLException(problem, "0A000")
    val messages = ExtendedMessages()
    messages.add(form, textOf(statement))
    messages.sync()
    val describes = form == Extended.Described
    val answer = ExtendedAnswer(if describes then null else rows)
    simple.converse(messages.take(), answer)
    if answer.error ne null then throw PSQLException(connection.message(answer.error.nn))
    if describes then
      if rows ne null then show(answer.columns, rows)
      Done(answer.columns.size, "")
    else
      form match
        case _: (Extended.Prepared | Extended.Closed) if rows ne null =>
          rows.completed("") // psql prints the tag, which is empty
        case _ => ()
      answer.done

  private def show(columns: Vector[RowSink.Column], rows: RowSink): Unit =
    if columns.isEmpty then rows.describedNone()
    else simple.execute(query(columns).getBytes(ISO_8859_1), rows = rows): Unit

private[postgres] object ExtendedQuery:
  /** Returns all of its text. */
  private[postgres] def textOf(statement: Piece.Statement): Array[Byte] =
    val long = statement.long
    if long eq null then statement.text else long.read(0, long.length)

  /** Returns the query for a table of the columns. Their names may hold any character. */
  private def query(columns: Vector[RowSink.Column]): String =
    val rows = columns.map: column =>
      val name = HexFormat.of().formatHex(column.name)
      s"('$name', ${column.kind}::pg_catalog.oid, ${column.modifier})"
    val values = rows.mkString(", ")
    s"""SELECT pg_catalog.convert_from(pg_catalog.decode(column_name, 'hex'),
       |  pg_catalog.pg_client_encoding()) AS "Column",
       |  pg_catalog.format_type(type, modifier) AS "Type"
       |FROM (VALUES $values) AS columns (column_name, type, modifier)""".stripMargin
