package weir.postgres.jobs

import weir.postgres.split.WordScan

/** Cuts the body of a COPY in text format into chunks of whole rows.
  *
  * A chunk ends at the first row end at or after `chunkBytes`. That depends on the bytes of the
  * body alone, not on how they arrive, so the same body is always cut at the same places. A row
  * ends at a newline that no backslash escapes.
  *
  * After an unescaped `\.` within the data nothing is cut any more: servers take it for the end of
  * the data, or for an error. So the connection that gets it must get all that comes after it.
  * (Where it stands alone on its line, the splitter ends the body.)
  *
  * It looks at eight bytes at a time, and closer only at a backslash.
  */
final class RowCutter(chunkBytes: Long):
  require(chunkBytes >= 1, s"RowCutter: a chunk had $chunkBytes bytes. It must have at least 1.")

  private var escaped = false
  private var endOfCopy = false // whether there was a `\.`
  private var known = -1 // the newlines that are left of those given to `expect`
  private var inChunk = 0L
  private var ended = true

  /** The number of rows of the chunk that have ended. */
  var rows: Long = 0

  /** Returns true if the bytes that `next` has found end the chunk. */
  def chunkEnded: Boolean = ended

  /** Announces that the bytes up to the `until` of the next call hold no backslash and this many
    * newlines, so they need not be scanned if no chunk ends there. -1 if this is not known.
    */
  def expect(newlines: Int): Unit = known = if escaped then -1 else newlines

  /** Up to where the bytes from `from` to `until` belong to the chunk: `until`, or the end of its
    * last row.
    *
    * After the end of a chunk the next call begins another one.
    */
  def next(bytes: Array[Byte], from: Int, until: Int): Int =
    if ended then
      ended = false
      inChunk = 0
      rows = 0
    // The last byte before this is the first at which the chunk may end.
    val all = (until - from).toLong
    val enough = if endOfCopy then all else math.min(chunkBytes - 1 - inChunk, all)
    val end =
      if known >= 0 && from + enough == until then
        rows += known
        until
      else
        val before = rows
        val at = if enough > 0 then count(bytes, from, from + enough.toInt) else from
        val end = if at < until then rowEnd(bytes, at, until) else until
        if known >= 0 then known -= (rows - before).toInt
        end
    inChunk += end - from
    end

  /** Counts the row ends from `from` to `until`, and returns `until`. */
  private def count(bytes: Array[Byte], from: Int, until: Int): Int =
    var i = from
    while i < until do
      if escaped || i > until - 8 then
        step(bytes(i))
        i += 1
      else
        val word = WordScan.load(bytes, i)
        val newlines = WordScan.matches(word, WordScan.Newlines)
        val slashes = WordScan.matches(word, WordScan.Backslashes)
        if slashes == 0 then
          rows += WordScan.count(newlines)
          i += 8
        else
          // Up to the first backslash nothing is escaped; the byte after it is.
          val first = java.lang.Long.numberOfTrailingZeros(slashes)
          rows += WordScan.count(newlines & ((1L << first) - 1))
          i += (first >> 3) + 1
          escaped = true
    until

  /** Returns the place after the first row end from `at` on, or `until`. */
  private def rowEnd(bytes: Array[Byte], at: Int, until: Int): Int =
    var i = at
    while i < until && !ended do
      ended = step(bytes(i))
      i += 1
    i

  /** Returns true if this byte ends a row. */
  private def step(byte: Byte): Boolean =
    if escaped then
      escaped = false
      if byte == '.' then endOfCopy = true
      false
    else if byte == '\n' then
      rows += 1
      !endOfCopy
    else
      escaped = byte == '\\'
      false
