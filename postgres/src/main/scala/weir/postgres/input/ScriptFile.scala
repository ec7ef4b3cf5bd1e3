package weir.postgres.input

import java.io.IOException
import java.util.Arrays
import weir.Task
import weir.postgres.{Piece, Position, ScriptException}
import weir.postgres.split.Splitter

/** Reads one file block by block, and splits it.
  *
  * @param isScript
  *   false if it is the data of a COPY
  * @param sum
  *   the unpacked bytes are added to it, those of each piece before the piece is returned
  * @param recent
  *   keeps the latest bytes
  * @param at
  *   the place at which it is read, in the file before
  * @param within
  *   that of the script; none if this is the script itself
  * @param firstOffset
  *   the number of bytes of other files that were read before
  */
private[input] final class ScriptFile(
    splitter: Splitter,
    val name: String,
    val isScript: Boolean,
    val at: Position,
    val within: Option[Position],
    firstOffset: Long,
    open: () => ScriptInput,
    sum: Option[Checksum],
    recent: Option[Recent]
):
  import ScriptFile.Block

  private var input: ScriptInput | Null = null
  private var isRead = false // to its end
  private var before = firstOffset // bytes of other files that were read before the next piece

  /** The block that is being split, the offset of its first byte, and the end of what is summed. */
  private var block: Block | Null = null
  private var blockAt = 0L
  private var summed = 0L

  /** Of a packed script, the block that was read and not split yet. */
  private var held: Block | Null = null

  /** The error of a packed script that ends too early, once all of it has been read. */
  private var cutOff: IOException | Null = null

  /** Says that `file` has been read since the last piece. */
  def addFile(file: ScriptFile): Unit = before += file.bytesInAll

  /** Returns the number of bytes that have been used up, with those of other files before. */
  def endOffset: Long = before + splitter.usedBytes

  /** Returns the number of bytes that have been used up, with those of the files that it has read.
    */
  private def bytesInAll: Long = endOffset - firstOffset

  /** Returns the next piece; null at the end of the file. */
  def next()(using Task.Direct): Piece | Null =
    var piece = splitter.next()
    while (piece eq null) && !isRead && !splitter.isOver do
      read()
      piece = splitter.next()
      // The stream looks for a cancel between pieces only, and a piece may be many blocks.
      Task.unit.await
    if piece eq null then markSum(splitter.usedBytes)
    taken(piece)

  /** Reads on as if the COPY that was returned last had no data. */
  def copyIsRefused(): Unit = splitter.copyIsRefused()

  /** Returns the next piece; null if it is not in the block that was read last. */
  def nextOfBlock(): Piece | Null = taken(splitter.next())

  private def taken(piece: Piece | Null): Piece | Null =
    if piece eq null then null
    else
      recent.foreach(_.pieceEnds(piece.endOffset))
      markSum(piece.endOffset)
      if before == 0 then piece else piece.after(before)

  /** Adds the bytes up to `offset`, at which a piece ends. */
  private def markSum(offset: Long): Unit =
    addToSum(offset)
    sum.foreach(_.mark())

  /** Adds the bytes up to `offset`, of which the last ones are in the block. */
  private def addToSum(offset: Long): Unit =
    for all <- sum if offset > summed do
      all.append(block.nn.bytes, (summed - blockAt).toInt, (offset - summed).toInt)
      summed = offset

  /** Returns the bytes of a block that were not used up, the first of which is at `blockAt` then.
    */
  private def leftOf(last: Block): Block =
    val used = splitter.usedBytes
    addToSum(used)
    val from = (used - blockAt).toInt
    blockAt = used
    Block(Arrays.copyOfRange(last.bytes, from, last.length), last.length - from)

  private def read()(using Task.Direct): Unit =
    val input = orComplain(opened())
    val last = block
    val next = nextBlock(input)
    if next eq null then
      isRead = true
      splitter.finish()
    else
      block = if last eq null then next else leftOf(last).followedBy(next)
      recent.foreach(_.append(next.bytes, next.length))
      splitter.feed(next.bytes, next.length)

  /** Returns the next block; null at the end. A packed block is given away only when the one after
    * it has been read: the sums that show damage are at the end, so the end of a damaged script is
    * not applied. What was unpacked of a script that is cut off is.
    */
  private def nextBlock(input: ScriptInput)(using Task.Direct): Block | Null =
    if cutOff ne null then throw complaint(cutOff.nn)
    var block = held
    if block eq null then block = orComplain(readBlock(input))
    if (block ne null) && input.packed.nonEmpty then
      held = block
      held =
        try readBlock(input)
        catch
          case error: IOException =>
            if !ScriptInput.isCutOff(error) then throw complaint(error)
            cutOff = error
            null
    block

  private def readBlock(input: ScriptInput)(using Task.Direct): Block | Null =
    // Data goes out as parts of the block, so that each block is a new one.
    val space =
      new Array[Byte](if input.mayWait then ScriptSource.PipeBytes else ScriptSource.BlockBytes)
    val length =
      if !input.mayWait then input.read(space)
      else Task.onPlatformThread(input.read(space)).await
    // A pipe may give few bytes at a time, and the read-ahead counts the bytes in the blocks, not
    // their size.
    if length < 0 then null
    else Block(if length * 2 <= space.length then Arrays.copyOf(space, length) else space, length)

  private def opened(): ScriptInput =
    val before = input
    if before ne null then before
    else
      val now = open()
      input = now
      now

  private inline def orComplain[A](inline read: A): A =
    try read
    catch case error: IOException => throw complaint(error)

  private def complaint(error: IOException): ScriptException =
    val opened = input
    def about(problem: String, position: Option[Position], hint: String) =
      ScriptException(name, position, problem, Option(error.getMessage), Some(hint), error)
    if opened eq null then
      about("the script cannot be opened", None, "It must be a file that may be read.")
    else
      val at = splitter.position
      (error, opened.packed) match
        case (other: Packing.NotRead, _) =>
          about(
            s"the file is packed by ${other.packing.name}, which is not read here",
            None,
            s"Unpack it: ${other.packing.unpack} FILE | weir sql -"
          )
        case (_, None) =>
          about(
            "the script cannot be read any further",
            Some(at),
            "Look at the device it is on, and at what writes the file."
          )
        case (_, Some(packing)) =>
          val bytes = at.offset + Option(held).fold(0)(_.length)
          about(
            s"the $packing data is damaged or cut off: only $bytes bytes could be unpacked",
            Some(at),
            "Make or copy the file again; the part before this place is intact."
          )

  /** Returns the bytes that have been read and not used. A script ends with the line of its `\q`.
    */
  def unused: Array[Byte] =
    val last = block
    if last eq null then Array.emptyByteArray
    else
      val left = Arrays.copyOfRange(last.bytes, (splitter.usedBytes - blockAt).toInt, last.length)
      if isScript then left.dropWhile(_ != '\n').drop(1) else left

  def close(): Unit =
    val opened = input
    if opened ne null then
      try opened.close()
      catch case _: IOException => () // it was only read

private[input] object ScriptFile:
  private final class Block(val bytes: Array[Byte], val length: Int):
    def followedBy(next: Block): Block =
      if length == 0 then next
      else
        val joined = Arrays.copyOf(bytes, length + next.length)
        System.arraycopy(next.bytes, 0, joined, length, next.length)
        Block(joined, joined.length)
