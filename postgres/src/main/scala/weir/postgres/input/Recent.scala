package weir.postgres.input

import java.util.ArrayDeque
import scala.jdk.CollectionConverters.*
import weir.postgres.split.WordScan
import weir.postgres.{Position, SourceLine}

/** The latest bytes of a script that cannot be read again, for the lines that errors are about.
  *
  * It keeps the reader's blocks, which are never changed, and copies nothing. Errors are about
  * bytes behind the reader: a statement by the read-ahead, a row of a COPY by what was in flight to
  * the server when the server read it. Of a longer statement the block in which it begins is kept,
  * too: that is where a quote was left open.
  *
  *   - **Shared**: all under the monitor. The reader appends, and the thread that reports an error
  *     reads.
  *
  * @param keepBytes
  *   the number of bytes that are kept at least, if as many were read
  */
private[postgres] final class Recent(keepBytes: Long):
  import Recent.Block

  private val blocks = ArrayDeque[Block]()
  private var kept = 0L
  private var offset = 0L
  private var line = 1L

  // Blocks at the beginning of statements that are longer than the kept bytes.
  private val beginning = ArrayDeque[Block]()
  private var beginningBytes = 0L
  private var begin = 0L

  /** Appends the next bytes. They must not be changed any more. */
  def append(bytes: Array[Byte], length: Int): Unit = synchronized:
    val block = Block(bytes, length, offset, line)
    blocks.addLast(block)
    kept += length
    offset = block.end
    line += WordScan.newlines(bytes, 0, length)
    while kept - blocks.getFirst.length >= keepBytes && blocks.size > 1 do
      val oldest = blocks.removeFirst()
      kept -= oldest.length
      if oldest.end + SourceLine.reachBytes > begin && oldest.offset < begin + SourceLine.reachBytes
      then
        beginning.addLast(oldest)
        beginningBytes += oldest.length
        while beginningBytes > Recent.mostBeginningBytes do
          beginningBytes -= beginning.removeFirst().length

  /** A piece ends at this offset, and the next one begins. */
  def pieceEnds(at: Long): Unit = synchronized:
    begin = at

  /** Returns the line at a position; none if it was read too long ago. */
  def lineAt(position: Position): Option[SourceLine] = synchronized:
    val (from, until) =
      (position.offset - SourceLine.reachBytes, position.offset + SourceLine.reachBytes)
    if position.offset < 0 then lineOf(position.line)
    else
      // The blocks that are contiguous with the one that holds the position.
      val near =
        (beginning.asScala ++ blocks.asScala).filter(b => b.end > from && b.offset < until).toVector
      val at = near.indexWhere(b => b.offset <= position.offset && position.offset <= b.end)
      Option.when(at >= 0):
        var first = at
        while first > 0 && near(first - 1).end == near(first).offset do first -= 1
        var last = at
        while last + 1 < near.size && near(last).end == near(last + 1).offset do last += 1
        val bytes = near.slice(first, last + 1).iterator.flatMap(_.between(from, until)).toArray
        val start = near(first).offset.max(from)
        SourceLine.in(bytes, (position.offset - start).toInt, isCut = start > 0)

  /** A line of COPY data, of which only the number is known. */
  private def lineOf(number: Long): Option[SourceLine] =
    val isThere = !blocks.isEmpty && number <= line &&
      (number > blocks.getFirst.line || blocks.getFirst.offset == 0)
    Option.when(isThere):
      val block = blocks.asScala.filter(b => b.offset == 0 || b.line < number).last
      val start = block.offset + block.beginOf(number)
      val until = start + SourceLine.reachBytes
      val bytes = blocks.asScala.iterator
        .filter(b => b.end > start && b.offset < until)
        .flatMap(_.between(start, until))
        .toArray
      SourceLine.in(bytes, 0, isCut = false)

private[postgres] object Recent:
  /** For the running statement, one that waits, and the one that is being read: two blocks each. */
  private val mostBeginningBytes = 6L * ScriptSource.BlockBytes

  /** @param line
    *   at its first byte
    */
  private[input] final class Block(
      val bytes: Array[Byte],
      val length: Int,
      val offset: Long,
      val line: Long
  ):
    def end: Long = offset + length

    /** Its bytes between these offsets of the script. */
    def between(from: Long, until: Long): Array[Byte] =
      val first = (from - offset).max(0).toInt
      java.util.Arrays.copyOfRange(bytes, first, (until - offset).min(length).toInt.max(first))

    /** Returns the index at which the line begins: the one after this number of newlines. */
    def beginOf(number: Long): Int =
      var left = number - line
      var at = 0
      while left > 0 do
        if bytes(at) == '\n' then left -= 1
        at += 1
      at
