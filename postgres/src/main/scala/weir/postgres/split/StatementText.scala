package weir.postgres.split

import weir.postgres.{Piece, Position}

/** The bytes of the statement that is being read. Most statements are in one block, and are copied
  * once. The others are gathered: a statement that continues in the next block, or one with parts
  * of the script left out.
  */
private[split] final class StatementText:
  private var kept = Array.emptyByteArray
  private var keptLength = 0
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
    if kept.length > StatementText.KeptBytes then kept = Array.emptyByteArray

  /** Returns the length of the text including the bytes before `at`. */
  def length(at: Int): Int = if run eq null then keptLength else keptLength + (at - from)

  /** Gathers the bytes before `at`, and takes none from there on. */
  def pause(at: Int): Unit =
    val running = run
    if running ne null then
      val length = at - from
      if keptLength + length > kept.length then
        kept = java.util.Arrays.copyOf(kept, math.max(keptLength + length, kept.length * 2))
      System.arraycopy(running.bytes, from, kept, keptLength, length)
      keptLength += length
      keptTo = running.offset(at)
      run = null

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

  /** Returns the bytes from `start` to `end` of the text. */
  def between(start: Int, end: Int): Array[Byte] =
    val part = new Array[Byte](end - start)
    val old = (keptLength - start).max(0).min(part.length)
    System.arraycopy(kept, start.min(keptLength), part, 0, old)
    val running = run
    if (running ne null) && old < part.length then
      System.arraycopy(running.bytes, from + start + old - keptLength, part, old, part.length - old)
    part

  /** Returns the bytes before `at`. */
  def bytes(at: Int): Array[Byte] =
    val running = run
    if running eq null then java.util.Arrays.copyOf(kept, keptLength)
    else if keptLength == 0 then java.util.Arrays.copyOfRange(running.bytes, from, at)
    else
      val all = java.util.Arrays.copyOf(kept, length(at))
      System.arraycopy(running.bytes, from, all, keptLength, at - from)
      all

  /** Returns the keyword that the bytes of the text from `start` to `end` are. */
  def keyword(start: Int, end: Int): Keyword =
    val running = run
    if end - start > Keyword.longest then Keyword.Unknown
    else if start >= keptLength && (running ne null) then
      Keyword.of(running.bytes, from + start - keptLength, from + end - keptLength)
    else
      // It began in an earlier block.
      val word = java.util.Arrays.copyOfRange(kept, start, end)
      if end > keptLength && (running ne null) then
        System.arraycopy(running.bytes, from, word, keptLength - start, end - keptLength)
      Keyword.of(word, 0, word.length)

  def statement(
      at: Int,
      copies: Boolean,
      endOffset: Long,
      answer: Piece.Answer = Piece.Answer.Dropped
  ): Piece.Statement =
    Piece.Statement(bytes(at), copies, start, endOffset, jumps.reverse, answer)

private[split] object StatementText:
  private final val KeptBytes = 1024 * 1024
  private final val Nowhere = -1L
