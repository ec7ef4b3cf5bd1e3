package weir.postgres.protocol

import java.nio.charset.StandardCharsets.ISO_8859_1

/** The rows of a statement whose answer decides how the script goes on.
  *
  * @param names
  *   of the columns. They and the values are bytes in the encoding of the client, one in each
  *   character, as the variables of psql are
  * @param rows
  *   with null for the value that is none
  * @param types
  *   the numbers of the columns' types; empty if nobody asks for them
  */
private[postgres] final case class KeptRows(
    names: Vector[String],
    rows: Vector[Vector[String | Null]],
    types: Vector[Int] = Vector.empty
)

private[postgres] object KeptRows:
  /** Keeps the rows of one statement. */
  final class Sink extends RowSink:
    private var kept: KeptRows | Null = null
    private val adding = Vector.newBuilder[Vector[String | Null]]

    /** Returns the rows; null if the statement has failed or returns none. */
    def rows: KeptRows | Null = if kept eq null then null else kept.copy(rows = adding.result())

    def columns(names: Vector[Array[Byte]], types: Vector[Int]): Unit =
      kept = KeptRows(names.map(String(_, ISO_8859_1)), Vector.empty, types)

    def row(values: Array[Array[Byte] | Null]): Unit =
      adding += values.toVector.map(v => if v eq null then null else String(v, ISO_8859_1))

    def copyBegins(): Unit = ()
    def copied(data: Array[Byte]): Unit = ()
    def completed(tag: String): Unit = ()
    def failed(): Unit = kept = null
