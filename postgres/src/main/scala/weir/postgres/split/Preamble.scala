package weir.postgres.split

import weir.postgres.Position

/** The first bytes of a script, which may say that it is none: an archive of pg_dump, or UTF-16 or
  * UTF-32.
  */
private[split] final class Preamble(errors: ScriptErrors):
  private val bytes = new Array[Byte](Preamble.most)
  private var length = 0

  /** Takes the missing first bytes from a run. Returns false if more are missing. */
  def take(from: Run): Boolean =
    val count = math.min(from.end - from.index, bytes.length - length)
    System.arraycopy(from.raw, from.index, bytes, length, count)
    length += count
    from.index += count
    length == bytes.length

  /** Returns the bytes, without a byte-order mark. Fails if they are not those of a script. */
  def end(): Run =
    if begins("PGDMP") then
      refuse(
        "a custom-format dump, not an SQL script",
        "pg_restore reads it: pg_restore --file=script.sql FILE makes a script of it."
      )
    if begins("\u00ff\u00fe\u0000\u0000") || begins("\u0000\u0000\u00fe\u00ff") then
      refuse(
        "a UTF-32 file, by its byte-order mark",
        "Convert it to UTF-8: iconv -f UTF-32 -t UTF-8."
      )
    if begins("\u00fe\u00ff") || begins("\u00ff\u00fe") then
      refuse(
        "a UTF-16 file, by its byte-order mark",
        "Convert it to UTF-8: iconv -f UTF-16 -t UTF-8."
      )
    val run = Run(Position.start)
    run.follow(bytes, 0, length)
    if hasMark then
      run.uncountMark()
      run.index += 3
    run

  /** The script begins with a byte-order mark. */
  private def hasMark: Boolean = begins("\u00ef\u00bb\u00bf")

  private def begins(mark: String): Boolean =
    mark.length <= length && mark.indices.forall(i => bytes(i) == mark.charAt(i).toByte)

  private def refuse(problem: String, hint: String): Nothing =
    errors.fail(Position.start, problem, Some(hint))

private[split] object Preamble:
  private final val most = 5
