package weir.postgres.split

import weir.postgres.Position

/** The rest of the line of a `COPY … FROM STDIN` after its semicolon. It runs after the data, which
  * begins on the next line.
  */
private[split] final class RestOfLine(errors: ScriptErrors):
  private var bytes = Array.emptyByteArray
  private var length = 0
  private var start = Position.start

  def begin(run: Run): Unit =
    bytes = Array.emptyByteArray
    length = 0
    start = run.position(run.index)

  /** Takes bytes up to the newline, and with it. False if it has not come. */
  def take(run: Run): Boolean =
    var to = run.index
    while to < run.end && run.raw(to) != '\n' do to += 1
    val complete = to < run.end
    if complete then to += 1
    val count = to - run.index
    errors.checkLine(length + count, start)
    if length + count > bytes.length then
      bytes = java.util.Arrays.copyOf(bytes, math.max(length + count, bytes.length * 2))
    System.arraycopy(run.raw, run.index, bytes, length, count)
    length += count
    run.index = to
    complete

  /** The bytes, if there is anything to read in them. */
  def end(): Run | Null =
    var i = 0
    while i < length && ByteClass.isSpace(bytes(i)) do i += 1
    if i == length then null
    else
      val run = Run(start)
      run.follow(bytes, 0, length)
      run
