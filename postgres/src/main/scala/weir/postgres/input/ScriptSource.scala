package weir.postgres.input

import java.io.IOException
import java.util.Arrays
import weir.Task
import weir.io.Source
import weir.postgres.{Piece, Position, ScriptException}
import weir.postgres.split.Splitter

/** Reads a script block by block, and splits it.
  *
  * @param sum
  *   the unpacked bytes are added to it
  * @param recent
  *   keeps the latest bytes
  */
private[postgres] final class ScriptSource(
    splitter: Splitter,
    name: String,
    open: () => ScriptInput,
    sum: Option[Checksum],
    recent: Option[Recent]
) extends Source[Piece]:
  import ScriptSource.Block

  private var input: ScriptInput | Null = null
  private var isRead = false // to its end

  /** Of a packed script, the block that was read and not split yet. */
  private var held: Block | Null = null

  /** The error of a packed script that ends too early, once all of it has been read. */
  private var cutOff: IOException | Null = null

  def next()(using Task.Direct): Piece | Source.End =
    var piece = splitter.next()
    while (piece eq null) && !isRead do
      read()
      piece = splitter.next()
      // The stream looks for a cancel between pieces only, and a piece may be many blocks.
      Task.unit.await
    val found = piece
    if found eq null then Source.End
    else
      recent.foreach(_.pieceEnds(found.endOffset))
      found

  private def read()(using Task.Direct): Unit =
    val input = orComplain(opened())
    val block = next(input)
    if block eq null then
      isRead = true
      splitter.finish()
    else
      sum.foreach(_.append(block.bytes, 0, block.length))
      recent.foreach(_.append(block.bytes, block.length))
      splitter.feed(block.bytes, block.length)

  /** Returns the next block; null at the end. A packed block is given away only when the one after
    * it has been read: the sums that show damage are at the end, so the end of a damaged script is
    * not applied. What was unpacked of a script that is cut off is.
    */
  private def next(input: ScriptInput)(using Task.Direct): Block | Null =
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

  override def close()(using Task.Direct): Unit =
    val opened = input
    if opened ne null then
      try opened.close()
      catch case _: IOException => () // it was only read

private[postgres] object ScriptSource:
  private final class Block(val bytes: Array[Byte], val length: Int)

  /** Passing a block between fibers and to the server costs the same for any size. */
  final val BlockBytes = 256 * 1024

  /** The capacity of a pipe. A read never gets more at once. */
  private final val PipeBytes = 64 * 1024
