package weir.postgres.input

import java.io.IOException
import java.util.Arrays
import weir.Task
import weir.io.Source
import weir.postgres.{Piece, Position, ScriptException, ScriptLimits}
import weir.postgres.split.Splitter

/** Reads a script block by block, and splits it.
  *
  * @param sum
  *   the unpacked bytes are added to it
  * @param recent
  *   keeps the latest bytes
  */
private[postgres] final class ScriptSource(
    name: String,
    limits: ScriptLimits,
    open: () => ScriptInput,
    sum: Option[Checksum],
    recent: Option[Recent]
) extends Source[Piece]:
  private val splitter = Splitter(name, limits)
  private var input: ScriptInput | Null = null
  private var isRead = false // to its end

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
    // Data goes out as parts of the block, so that each block is a new one.
    val space =
      new Array[Byte](if input.mayWait then ScriptSource.PipeBytes else ScriptSource.BlockBytes)
    val length = orComplain(
      if !input.mayWait then input.read(space)
      else Task.onPlatformThread(input.read(space)).await
    )
    if length >= 0 then
      // A pipe may give few bytes at a time, and the read-ahead counts the bytes in the blocks, not
      // their size.
      val block = if length * 2 <= space.length then Arrays.copyOf(space, length) else space
      sum.foreach(_.append(block, 0, length))
      recent.foreach(_.append(block, length))
      splitter.feed(block, length)
    else
      isRead = true
      splitter.finish()

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
      opened.packed match
        case None =>
          about("the script cannot be read any further", Some(at), "Look at the device it is on.")
        case Some(packing) =>
          about(
            s"the $packing data is damaged or cut off: only ${at.offset} bytes could be unpacked",
            Some(at),
            "Make or copy the file again; the part before this place is intact."
          )

  override def close()(using Task.Direct): Unit =
    val opened = input
    if opened ne null then
      try opened.close()
      catch case _: IOException => () // it was only read

private[postgres] object ScriptSource:
  /** Passing a block between fibers and to the server costs the same for any size. */
  final val BlockBytes = 256 * 1024

  /** The capacity of a pipe. A read never gets more at once. */
  private final val PipeBytes = 64 * 1024
