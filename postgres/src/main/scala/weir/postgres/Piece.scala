package weir.postgres

/** What a script is split into: statements, and the data of `COPY … FROM STDIN` in parts of any size.
  *
  * A statement with `copies` is followed by `CopyData`, as often as there is data, and by one `CopyEnd`. Nobody changes
  * the arrays.
  */
sealed trait Piece:

  /** Where it begins. */
  def start: Position

  /** How many bytes of the script had been used up when this piece was complete. Never falls from piece to piece. */
  def endOffset: Long

  /** How many bytes it holds. */
  def sizeBytes: Int

object Piece:
  /** One statement, without the semicolon that ends it.
    *
    * @param text
    *   its bytes as they stand in the script, without the white space and the `--` comments before it
    * @param copies
    *   that it is a `COPY … FROM STDIN`, whose data follows
    */
  final class Statement(
      val text: Array[Byte],
      val copies: Boolean,
      val start: Position,
      val endOffset: Long
  ) extends Piece:
    def sizeBytes: Int = text.length

  /** Data for the COPY before it: `length` bytes of `bytes`, from `from`. It may begin and end in the middle of a row.
    */
  final class CopyData(
      val bytes: Array[Byte],
      val from: Int,
      val length: Int,
      val start: Position,
      val endOffset: Long
  ) extends Piece:
    def sizeBytes: Int = length

  /** The end of the data, at its `\.`. */
  final class CopyEnd(val start: Position, val endOffset: Long) extends Piece:
    def sizeBytes: Int = 0
