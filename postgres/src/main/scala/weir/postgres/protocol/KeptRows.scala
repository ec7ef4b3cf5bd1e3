package weir.postgres.protocol

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
