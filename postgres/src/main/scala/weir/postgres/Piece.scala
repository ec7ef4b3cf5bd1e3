package weir.postgres

import weir.postgres.split.{Place, Tokens}

/** A part of a script: a statement, a part of any size of the data of a `COPY … FROM STDIN`, or a
  * command of psql.
  *
  * A statement with `copies` is followed by any number of `CopyData`, and by one `CopyEnd`. The
  * arrays are never changed.
  */
sealed trait Piece:

  /** Returns the position at which it begins. */
  def start: Position

  /** Returns the number of bytes of the script that had been used up when this piece was complete.
    * It never decreases from piece to piece.
    */
  def endOffset: Long

  /** Returns the number of bytes that it holds. */
  def sizeBytes: Int

object Piece:
  /** One statement, without the semicolon that ends it.
    *
    * @param text
    *   its bytes, unchanged, without the white space and the `--` comments before it
    * @param copies
    *   true if it is a `COPY … FROM STDIN`, whose data follows
    * @param jumps
    *   the places where the text leaves out a part of the script
    */
  final class Statement(
      val text: Array[Byte],
      val copies: Boolean,
      val start: Position,
      val endOffset: Long,
      jumps: List[Jump] = Nil
  ) extends Piece:
    def sizeBytes: Int = text.length

    /** Returns the first words of the statement, at most `count`, in upper case: `CREATE`, `TABLE`,
      * `PUBLIC`. Comments and parentheses that open before them are passed over; the first token
      * that is no unquoted word ends them.
      */
    def leadingWords(count: Int): List[String] = Tokens.leading(text, count)

    /** Returns the position in the script of a character of the text. Characters are counted from
      * 1, as in the server's error positions. One past the end is the place after the last
      * character.
      */
    def positionOf(character: Int): Position =
      var index = 0
      var left = character
      while index < text.length && left > 0 do
        if (text(index) & 0xc0) != 0x80 then left -= 1
        if left > 0 then index += 1
      positionOfByte(index)

    /** Returns the position in the script of the byte of the text with this index, from 0. */
    def positionOfByte(index: Int): Position =
      val jump = jumps.filter(_.textIndex <= index).lastOption.getOrElse(Jump(0, start))
      val place = Place.at(jump.to)
      if !jump.stays then place.move(text, jump.textIndex, index)
      place.position

  /** The text of a statement goes on, from the byte `textIndex` on, at another place of the script.
    *
    * @param stays
    *   it is the value of a variable that is at this place
    */
  final case class Jump(textIndex: Int, to: Position, stays: Boolean = false)

  /** Data for the COPY before it: `length` bytes of `bytes`, from `from`. It may begin and end in
    * the middle of a row.
    *
    * @param plainNewlines
    *   the number of newlines that it holds, if it holds no backslash; -1 if it may
    */
  final class CopyData(
      val bytes: Array[Byte],
      val from: Int,
      val length: Int,
      val start: Position,
      val endOffset: Long,
      private[postgres] val plainNewlines: Int = -1
  ) extends Piece:
    def sizeBytes: Int = length

  /** The end of the data, at its `\.`. */
  final class CopyEnd(val start: Position, val endOffset: Long) extends Piece:
    def sizeBytes: Int = 0

  /** A command of psql, which is carried out once all pieces before it have been applied. Commands
    * that only matter to the splitter, such as `\set` of a variable in SQL, are no pieces.
    *
    * @param name
    *   its name, without the backslash
    * @param arguments
    *   of `echo`, `qecho` and `warn` the text to print; of `set` a name and a value; of `message` a
    *   warning about a command; none of a command that only displays, and is passed over
    */
  final class Command(
      val name: String,
      val arguments: List[String],
      val start: Position,
      val endOffset: Long
  ) extends Piece:
    def sizeBytes: Int = name.length + arguments.map(_.length).sum
