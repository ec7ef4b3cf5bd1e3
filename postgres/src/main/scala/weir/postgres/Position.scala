package weir.postgres

/** A place in a script.
  *
  * @param offset
  *   the number of bytes that come before it; `UnknownOffset` if only the line is known
  * @param line
  *   from 1
  * @param column
  *   from 1, in characters
  */
final case class Position(offset: Long, line: Long, column: Long):
  override def toString: String = s"$line:$column"

object Position:
  val start: Position = Position(0, 1, 1)

  /** Of a line of COPY data: the server knows its number only. */
  val UnknownOffset: Long = -1
