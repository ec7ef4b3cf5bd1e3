package weir.postgres.split

import weir.postgres.{Piece, Position}

/** The data of a COPY: all up to a line that is exactly `\.`.
  *
  * Nothing is copied. A backslash at the beginning of a line is found eight bytes at a time; if the
  * block ends within a possible marker, these one to three bytes are held back. They are always the
  * same ones, so only their number is kept.
  */
private[split] final class CopyScan:
  private var atLineStart = true
  private var held = 0 // bytes of the marker, at the end of what has been read
  private var refused = 0 // the number of held bytes that turned out to be data
  private var heldAt = Position.start
  private var newlines = 0 // since the last position
  private var plain = true // no backslash since the last position

  var isEnded = false

  def begin(): Unit =
    atLineStart = true
    held = 0
    isEnded = false

  /** The next piece of the bytes that are left in `run`. Null if there is none, and all are used.
    */
  def read(run: Run): Piece | Null =
    if held > 0 then decide(run)
    else
      val from = run.index
      val to = seek(run.raw, from, run.end)
      if to > from then
        val start = run.position(from)
        run.index = to
        atLineStart = run.raw(to - 1) == '\n'
        run.position(to, newlines): Unit
        val known = if plain then newlines else -1
        Piece.CopyData(run.raw, from, to - from, start, run.offset(to), known)
      else
        if !run.isSpent then hold(run)
        null

  /** The end of the script, which ends a marker as a newline does. Returns held bytes that are
    * data.
    */
  def finish(): Piece | Null =
    val count = held
    held = 0
    isEnded = count >= 2
    if count == 1 then data(1) else null

  def end(endOffset: Long): Piece.CopyEnd =
    isEnded = true
    Piece.CopyEnd(heldAt, endOffset)

  /** The index of a line that is the marker, or may be. Counts the newlines before it. */
  private def seek(bytes: Array[Byte], from: Int, end: Int): Int =
    newlines = 0
    plain = true
    var at = from
    var found = -1
    if atLineStart && from < end && bytes(from) == '\\' then
      plain = false
      if CopyScan.mayEnd(bytes, from, end) then found = from else at = from + 1
    while found < 0 do
      at = nextBackslash(bytes, at, end)
      if at == end || CopyScan.mayEnd(bytes, at, end) then found = at
      else
        plain = false
        at += 1
    found

  /** The index of the next backslash that is the first byte of its line, after `from`. Some that no
    * dot follows are left out.
    */
  private def nextBackslash(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    var before = 0L // the highest bit of the lowest byte: the byte before this word was a newline
    var candidates = 0L
    var slashes = 0L
    var count = 0
    while candidates == 0 && i <= end - 8 do
      val word = WordScan.load(bytes, i)
      val ends = WordScan.matches(word, WordScan.Newlines)
      val here = WordScan.matches(word, WordScan.Backslashes)
      slashes |= here
      candidates = (ends << 8 | before) & here
      // rows that begin with \N are many: a dot must follow, or the word be at its end
      if candidates != 0 then
        candidates &= WordScan.matches(word, WordScan.Dots) >>> 8 | Long.MinValue
      before = ends >>> 56
      count += WordScan.count(ends)
      i += 8
    if slashes != 0 then plain = false
    if candidates != 0 then
      // the newlines of this word that come after the candidate are counted when it is gone on from
      // there
      val at = i - 8 + (java.lang.Long.numberOfTrailingZeros(candidates) >> 3)
      newlines += count - WordScan.newlines(bytes, at, i)
      at
    else
      var isFirst = before != 0
      while i < end && !(isFirst && bytes(i) == '\\') do
        isFirst = bytes(i) == '\n'
        if isFirst then count += 1
        if bytes(i) == '\\' then plain = false
        i += 1
      newlines += count
      i

  /** Begins to hold back a line that may be the marker. */
  private def hold(run: Run): Unit =
    heldAt = run.position(run.index)
    run.index += 1
    held = 1
    step(run)

  private def decide(run: Run): Piece | Null =
    step(run)
    if held > 0 || isEnded then null else data(refused)

  /** A piece of held bytes that turned out to be data. */
  private def data(count: Int): Piece =
    Piece.CopyData(CopyScan.marker.clone(), 0, count, heldAt, heldAt.offset + count)

  /** Reads bytes of the marker until it is clear whether it is one. */
  private def step(run: Run): Unit =
    var open = true
    while open && !run.isSpent do
      val byte = run.raw(run.index)
      if held >= 2 && byte == '\n' then
        run.index += 1
        held = 0
        isEnded = true
        open = false
      else if held < 3 && byte == CopyScan.marker(held) then
        run.index += 1
        held += 1
      else
        refused = held
        held = 0
        atLineStart = false
        open = false

private[split] object CopyScan:
  private val marker: Array[Byte] = "\\.\r".getBytes

  /** Returns false if the line at `at`, which begins with a backslash, cannot be the marker. */
  private def mayEnd(bytes: Array[Byte], at: Int, end: Int): Boolean =
    def holds(index: Int, byte: Char) = index >= end || bytes(index) == byte
    holds(at + 1, '.') && (holds(at + 2, '\n') || holds(at + 2, '\r') && holds(at + 3, '\n'))
