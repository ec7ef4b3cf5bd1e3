package weir.postgres

import weir.Deferred
import weir.postgres.split.{Characters, Place, Reading, Tokens}

/** A part of a script: a statement, a part of any size of the data of a `COPY … FROM STDIN`, a
  * command of psql, or the place where another file begins or goes on.
  *
  * A statement with `copies` is followed by any number of `CopyData`, and by one `CopyEnd`. The
  * arrays are never changed.
  */
sealed trait Piece:

  /** Returns the position at which it begins. */
  def start: Position

  /** Returns the number of bytes of the script, and of the files that it has read before, that had
    * been used up when this piece was complete. It never decreases from piece to piece.
    */
  def endOffset: Long

  /** Returns the same piece, if `bytes` bytes of other files have been read before. */
  private[postgres] def after(bytes: Long): Piece

  /** Returns the number of bytes that it holds. */
  def sizeBytes: Int

object Piece:
  /** One statement, without the semicolon that ends it.
    *
    * @param text
    *   its bytes, unchanged, without the white space and the `--` comments before it. Of a
    *   statement that is longer than `ScriptLimits.memoryBytes`, only a part: up to 256 KB, from
    *   its first word on
    * @param copies
    *   true if it is a `COPY … FROM STDIN`, whose data follows
    * @param jumps
    *   the places where the text leaves out a part of the script
    * @param answer
    *   what is done with the rows that it returns
    * @param long
    *   all bytes of a statement of which `text` is only a part; null if it is all
    * @param reading
    *   the settings of the session by which it was read
    * @param extended
    *   the form in which it is sent; null for the simple protocol
    * @param hasSemicolon
    *   a semicolon ends it, which the text does not have
    */
  final class Statement private[postgres] (
      val text: Array[Byte],
      val copies: Boolean,
      val start: Position,
      val endOffset: Long,
      jumps: List[Jump],
      private[postgres] val answer: Answer = Answer.Dropped,
      private[postgres] val long: LongText | Null = null,
      private[postgres] val reading: Reading = Reading.standard,
      private[postgres] val extended: Extended | Null = null,
      private[postgres] val hasSemicolon: Boolean = false
  ) extends Piece:
    private[postgres] def this(
        text: Array[Byte],
        copies: Boolean,
        start: Position,
        endOffset: Long
    ) = this(text, copies, start, endOffset, Nil)

    /** Returns true if `text` is all of the statement. */
    def isWhole: Boolean = long eq null

    /** Returns the length of the whole statement, wherever its bytes are. */
    def sizeBytes: Int = if long eq null then text.length else long.length

    private[postgres] def after(bytes: Long) = changed(endOffset = endOffset + bytes)

    /** Returns the same statement, sent by a command that ends at `endOffset`, in a session with
      * other settings.
      */
    private[postgres] def sentAgain(
        endOffset: Long,
        answer: Answer,
        reading: Reading,
        form: Extended | Null
    ) =
      val hasData = copies && (form eq null)
      changed(hasData, endOffset, answer, long = null, reading, form)

    /** Returns the same COPY, as it is if the server runs it and its data follows. */
    private[postgres] def withData = changed(copies = true)

    private def changed(
        copies: Boolean = copies,
        endOffset: Long = endOffset,
        answer: Answer = answer,
        long: LongText | Null = long,
        reading: Reading = reading,
        extended: Extended | Null = extended
    ) =
      Statement(
        text,
        copies,
        start,
        endOffset,
        jumps,
        answer,
        long,
        reading,
        extended,
        hasSemicolon
      )

    /** Returns true if it is a part of a pipeline. */
    private[postgres] def isPiped: Boolean = extended.isInstanceOf[Extended.Piped]

    /** Returns true if the server runs the text, and runs it now. */
    private[postgres] def runsText: Boolean = Extended.runsText(extended)

    /** Returns the same COPY, if it is one TO STDOUT. */
    private[postgres] def reversed =
      Statement(text, false, start, endOffset, jumps, Answer.Copied, null, reading)

    /** Passes all bytes of the statement to `use`, in blocks, each with its length. */
    def foreachBlock(use: (Array[Byte], Int) => Unit): Unit =
      if long eq null then use(text, text.length) else long.blocks(0, long.length)(use)

    /** Frees the temporary file of a long statement, of which only `text` is left then. A statement
      * that is not used any more frees its file when the garbage collector finds it.
      */
    def discard(): Unit = if long ne null then long.close()

    /** Returns the first words of the statement, at most `count`, in upper case: `CREATE`, `TABLE`,
      * `PUBLIC`. Comments and parentheses that open before them are passed over; the first token
      * that is no unquoted word ends them.
      */
    def leadingWords(count: Int): List[String] = Tokens.leading(text, count)

    /** Returns the position in the script of a character of the statement, in UTF-8. Characters are
      * counted from 1, as in the server's error positions. One past the end is the place after the
      * last character.
      */
    def positionOf(character: Int): Position = positionOf(character, Characters.Utf8)

    /** Returns the position of a character in another encoding. */
    private[postgres] def positionOf(character: Int, characters: Characters): Position =
      val mask = Reading(true, characters).mask
      var index = 0
      var left = character
      foreachBlock: (block, length) =>
        val bytes = if mask eq null then block else mask.of(block, 0, length)
        var at = 0
        while at < length && left > 0 do
          if (bytes(at) & 0xc0) != 0x80 then left -= 1
          if left > 0 then at += 1
        index += at
      positionOfByte(index)

    /** Returns the position in the script of the byte of the statement with this index, from 0. */
    def positionOfByte(index: Int): Position =
      val jump = jumps.filter(_.textIndex <= index).lastOption.getOrElse(Jump(0, start))
      val place = Place.at(jump.to)
      if !jump.stays then
        val from = jump.textIndex
        if long eq null then place.move(reading.masked(text), from, index)
        else
          val mask = reading.mask
          long.blocks(from, index): (block, length) =>
            val bytes = if mask eq null then block else mask.of(block, 0, length)
            place.move(bytes, 0, length)
      place.position

  /** Says what is done with the rows of a statement, or with the data of a `COPY … TO STDOUT`. */
  private[postgres] enum Answer:
    /** They are dropped as they arrive, or printed, if the run prints rows. */
    case Dropped

    /** They are printed, with these settings of `\pset` for the time of the statement.
      *
      * @param target
      *   of `\g`: a file, or what the shell runs, as in a command `!`; empty for the usual output
      */
    case Shown(settings: List[(String, Option[String])], target: List[String])

    /** `Session.keptRows` has them, for the command that is the next piece. */
    case Kept

    /** They are data, and go to `Session.copyTarget`. */
    case Copied

  /** The text of a statement goes on, from the byte `textIndex` on, at another place of the script.
    *
    * @param stays
    *   it is the value of a variable that is at this place
    */
  private[postgres] final case class Jump(textIndex: Int, to: Position, stays: Boolean = false)

  /** Data for the COPY before it: `length` bytes of `bytes`, from `from`. It may begin and end in
    * the middle of a row.
    *
    * @param plainNewlines
    *   the number of newlines that it holds, if it holds no backslash; -1 if it may
    */
  final class CopyData private[postgres] (
      val bytes: Array[Byte],
      val from: Int,
      val length: Int,
      val start: Position,
      val endOffset: Long,
      private[postgres] val plainNewlines: Int = -1
  ) extends Piece:
    def sizeBytes: Int = length
    private[postgres] def after(more: Long) =
      CopyData(bytes, from, length, start, endOffset + more, plainNewlines)

  /** The end of the data, at its `\.`, or at the end of the file that `\copy` reads. */
  final class CopyEnd private[postgres] (val start: Position, val endOffset: Long) extends Piece:
    def sizeBytes: Int = 0
    private[postgres] def after(bytes: Long) = CopyEnd(start, endOffset + bytes)

  /** The pieces after it have their positions in another file: in one that `\i` includes or `\copy`
    * reads, or, after its end, in the one before.
    *
    * @param name
    *   the name of the file in errors
    * @param within
    *   the place of the script at which the file is read; none if it is the script itself
    */
  final class File private[postgres] (
      val name: String,
      val within: Option[Position],
      val start: Position,
      val endOffset: Long
  ) extends Piece:
    def sizeBytes: Int = 0
    private[postgres] def after(bytes: Long) = File(name, within, start, endOffset + bytes)

  /** A command of psql, which is carried out once all pieces before it have been applied. Commands
    * that only matter to the splitter, such as `\set` of a variable in SQL, are no pieces.
    *
    * @param name
    *   its name, without the backslash
    * @param arguments
    *   of `echo`, `qecho` and `warn` the text to print; of `set` a name and a value; of `message` a
    *   warning about a command; of `fail` the error of a command and a hint; of `i` and `copy` what
    *   they read, of `copyto` what it writes; of `gset` a prefix; of `!` what the
    *   shell runs, its folder and changes of its environment; none of a command that only
    *   displays, and is passed over. `look` only waits for the statements before it
    * @param applied
    *   set once the command has been carried out; null if nothing waits for it
    * @param reading
    *   the settings of the session by which it was read; null if it was not read
    */
  final class Command private[postgres] (
      val name: String,
      val arguments: List[String],
      val start: Position,
      val endOffset: Long,
      private[postgres] val applied: Deferred[Unit] | Null,
      private[postgres] val reading: Reading | Null
  ) extends Piece:
    private[postgres] def this(
        name: String,
        arguments: List[String],
        start: Position,
        endOffset: Long
    ) = this(name, arguments, start, endOffset, null, null)

    def sizeBytes: Int = name.length + arguments.map(_.length).sum
    private[postgres] def after(bytes: Long) =
      Command(name, arguments, start, endOffset + bytes, applied, reading)

    /** Returns the same command, with a way to wait until it has been carried out. */
    private[postgres] def awaited: Command =
      Command(name, arguments, start, endOffset, Deferred.unsafe[Unit], reading)
