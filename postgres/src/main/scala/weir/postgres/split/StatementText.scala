package weir.postgres.split

import java.io.IOException
import weir.postgres.{Extended, LongText, Piece, Position}

/** The bytes of the statement that is being read. Most statements are in one block, and are copied
  * once. The others are gathered: a statement that continues in the next block, or one with parts
  * of the script left out. What exceeds the memory is gathered in a file.
  */
private[split] final class StatementText(errors: ScriptErrors, memoryBytes: Int):
  private var kept = Array.emptyByteArray
  private var keptLength = 0
  private var file: LongText | Null = null // has all kept bytes, if they are too many for `kept`
  private var keptTo = 0L // the offset in the script at which the kept bytes end
  private var run: Run | Null = null // null: nothing is being taken
  private var from = 0 // the part that is not kept begins here
  private var jumps: List[Piece.Jump] = Nil

  var isBegun = false
  var start: Position = Position.start

  def begin(in: Run, at: Int): Unit =
    run = in
    from = at
    start = in.position(at)
    if in.stays then jumps = List(Piece.Jump(0, start, stays = true))
    isBegun = true

  def abandon(): Unit =
    run = null
    keptLength = 0
    jumps = Nil
    isBegun = false
    val long = file
    file = null
    if long ne null then long.close()
    if kept.length > StatementText.KeptBytes then kept = Array.emptyByteArray

  /** Returns the length of the text including the bytes before `at`. */
  def length(at: Int): Int = if run eq null then keptLength else keptLength + (at - from)

  /** Gathers the bytes before `at`, and takes none from there on. */
  def pause(at: Int): Unit =
    val running = run
    if running ne null then
      val length = at - from
      if file ne null then inFile(_.append(running.raw, from, length))
      else if keptLength + length > memoryBytes then
        inFile: long =>
          long.append(kept, 0, keptLength)
          long.append(running.raw, from, length)
      else
        if keptLength + length > kept.length then
          kept = java.util.Arrays.copyOf(kept, math.max(keptLength + length, kept.length * 2))
        System.arraycopy(running.raw, from, kept, keptLength, length)
      keptLength += length
      keptTo = running.offset(at)
      run = null

  private def inFile(use: LongText => Unit): Unit =
    try
      var long = file
      if long eq null then long = LongText.create()
      file = long
      use(long)
    catch case error: IOException => errors.noFile(start, error)

  /** Takes the bytes from `at` on. */
  def resume(in: Run, at: Int): Unit =
    if in.offset(at) != keptTo then
      jumps = Piece.Jump(keptLength, in.position(at), in.stays) :: jumps
    run = in
    from = at

  /** Leaves out the bytes from `index` of the text on, and takes none from there on. */
  def cut(index: Int): Unit =
    if index > keptLength then pause(from + index - keptLength)
    keptLength = index
    keptTo = StatementText.Nowhere
    run = null
    val long = file
    if long ne null then long.cut(index)

  /** Returns the bytes from `start` to `end` of the text. */
  def between(start: Int, end: Int): Array[Byte] =
    val part = new Array[Byte](end - start)
    val old = (keptLength - start).max(0).min(part.length)
    if old > 0 then
      val source = file
      if source eq null then System.arraycopy(kept, start, part, 0, old)
      else System.arraycopy(source.read(start, start + old), 0, part, 0, old)
    val running = run
    if (running ne null) && old < part.length then
      System.arraycopy(running.raw, from + start + old - keptLength, part, old, part.length - old)
    part

  /** Returns the keyword that the bytes of the text from `start` to `end` are. */
  def keyword(start: Int, end: Int): Keyword =
    val running = run
    if end - start > Keyword.longest then Keyword.Unknown
    else if start >= keptLength && (running ne null) then
      Keyword.of(running.bytes, from + start - keptLength, from + end - keptLength)
    else
      // It began in an earlier block.
      val word = between(start, end)
      Keyword.of(word, 0, word.length)

  /** Returns the statement of the bytes before `at`, which have been read by `reading`. Its text,
    * if it is too long for the memory, begins at `head`.
    */
  def statement(
      at: Int,
      head: Int,
      reading: Reading,
      copies: Boolean,
      endOffset: Long,
      answer: Piece.Answer = Piece.Answer.Dropped,
      form: Extended | Null = null,
      hasSemicolon: Boolean = false
  ): Piece.Statement =
    if length(at) > memoryBytes then pause(at)
    val long = file
    val text =
      if long eq null then between(0, length(at))
      else long.read(head, long.length.min(head + StatementText.HeadBytes))
    val places = jumps.reverse
    Piece.Statement(
      text,
      copies,
      start,
      endOffset,
      places,
      answer,
      long,
      reading,
      form,
      hasSemicolon
    )

  /** Forgets the statement that `statement` has returned. */
  def release(): Unit =
    file = null
    abandon()

private[split] object StatementText:
  private final val KeptBytes = 1024 * 1024
  final val HeadBytes = 256 * 1024
  private final val Nowhere = -1L
