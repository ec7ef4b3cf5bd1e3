package weir.postgres.split

import java.util.Arrays

/** The bytes of a script that were fed, before a `Run` has them: all at once, or line by line.
  *
  * psql's `ECHO` of all lines prints each line before it is read, so a line must be whole. One that
  * is longer than a block comes in parts.
  */
private[split] final class FedBytes:
  private var bytes = Array.emptyByteArray
  private var from = 0
  private var until = 0
  private var isByLine = false // the run ends with a line

  /** Adds bytes, which must not be changed after that. */
  def add(more: Array[Byte], start: Int, end: Int): Unit =
    if from == until then
      bytes = more
      from = start
      until = end
    else if end > start then
      val joined = Arrays.copyOfRange(bytes, from, until + end - start)
      System.arraycopy(more, start, joined, until - from, end - start)
      bytes = joined
      from = 0
      until = joined.length

  /** Passes all bytes to the run, which is spent. Returns false if there are none. */
  def pass(run: Run, mask: CharacterMask | Null): Boolean =
    isByLine = false
    val hasMore = from < until
    if hasMore then
      run.follow(bytes, from, until, mask)
      from = until
    hasMore

  /** Takes the bytes of the run that follow its line, or all, if it is between two lines. Returns
    * true if the bytes of the run are others than before.
    */
  def takeBack(run: Run): Boolean =
    val isLonger = !isByLine && !run.isSpent
    isByLine = true
    if isLonger then
      val isAtLine = run.index > 0 && run.raw(run.index - 1) == '\n'
      val at = if isAtLine then run.index else FedBytes.afterLine(run.raw, run.index, run.end)
      val left = run.end
      run.end = at
      add(run.raw, at, left)
    isLonger

  /** Passes the next line to the run, which is spent, and returns it, with its newline, if it has
    * one; null if it is not whole yet.
    */
  def passLine(run: Run, mask: CharacterMask | Null, isFinished: Boolean): Array[Byte] | Null =
    val end = FedBytes.afterLine(bytes, from, until)
    val isWhole = end > from && (bytes(end - 1) == '\n' || isFinished)
    val to = if isWhole then end else if end - from < FedBytes.LongLine then from else afterWord
    if to == from then null
    else
      val line = Arrays.copyOfRange(bytes, from, to)
      from = to
      run.follow(line, 0, line.length, mask)
      line

  /** Returns the index behind the last space, where no character is cut. */
  private def afterWord: Int =
    val space = bytes.lastIndexOf(' '.toByte, until - 1)
    if space < from then until else space + 1

private object FedBytes:
  private final val LongLine = 1 << 20

  private def afterLine(bytes: Array[Byte], from: Int, until: Int): Int =
    var at = from
    while at < until && bytes(at) != '\n' do at += 1
    if at < until then at + 1 else at
