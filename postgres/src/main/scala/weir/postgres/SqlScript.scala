package weir.postgres

import java.io.{FileDescriptor, FileInputStream, IOException, InputStream}
import java.nio.file.{Files, Path}
import weir.{Stream, Task}
import weir.postgres.input.{Recent, ScriptInput, ScriptSource}
import weir.postgres.journal.Checksum
import weir.postgres.split.Limits
import weir.stream.Pull

/** A script as `psql -f` takes it, of any size: plain, or packed by gzip or Zstandard, which is told by its first bytes.
  *
  * @param name
  *   what errors call it
  * @param sizeBytes
  *   the size of the file, packed as it is; none if that is not known
  */
final class SqlScript private (
    val name: String,
    val sizeBytes: Option[Long],
    limits: Limits,
    canReopen: Boolean,
    opening: () => InputStream
):
  @volatile private var taken = 0L
  @volatile private var recent: Recent | Null = null

  /** How many bytes of the file, packed as it is, have been read by now: by the run of `pieces` that read last. */
  def readBytes: Long = taken

  /** What it is split into, read as the pieces are asked for. The file is closed once the stream is over, however it ends.
    *
    * '''Fails''' with a `ScriptException` if there is no such file, it is damaged, or cannot be split; all pieces before that
    * place have come then.
    */
  def pieces: Stream[Piece] = piecesSummed(None, 0)

  /** The same; `sum` takes in what is read, before the pieces that it makes have come.
    *
    * @param aheadBytes
    *   how far the reader may be ahead of what is applied
    */
  private[postgres] def piecesSummed(sum: Option[Checksum], aheadBytes: Long): Stream[Piece] =
    new Stream[Piece]:
      private[weir] def open(): Pull =
        val kept = if canReopen then null else Recent(SqlScript.keepBytes + aheadBytes)
        recent = kept
        ScriptSource(name, limits, () => ScriptInput(opening(), taken = _), sum, Option(kept))

  /** The line that a position of an error is about, or its part within 8 KB of that, for messages: from the file, which is read
    * again; of a stream or a pipe from what `pieces`, or `applyTo`, has read last. None if it is not there any more.
    */
  def lineAt(position: Position): Option[SourceLine] =
    val kept = recent
    if !canReopen then if kept eq null then None else kept.lineAt(position)
    else
      try
        val input = ScriptInput(opening(), _ => ())
        try Some(SourceLine.at(input.stream, position))
        finally input.close()
      catch case _: IOException => None

  /** The SHA-256 of its first bytes, unpacked, if it is a file that has so many. */
  private[postgres] def sumOfFirst(bytes: Long): Option[Array[Byte]] =
    if !canReopen then None
    else
      val input = ScriptInput(opening(), _ => ())
      try
        val digest = java.security.MessageDigest.getInstance("SHA-256")
        val block = new Array[Byte](ScriptSource.BlockBytes)
        var left = bytes
        var count = 0
        while left > 0 && count >= 0 do
          count = input.stream.read(block, 0, left.min(block.length).toInt)
          if count > 0 then
            digest.update(block, 0, count)
            left -= count
        Option.when(left == 0)(digest.digest())
      catch case _: IOException => None
      finally input.close()

  /** What applying this script has come to: see `SqlScripts.applyTo`. */
  def applyTo(
      connection: ScriptConnection,
      options: ApplyOptions = ApplyOptions(),
      listener: ApplyListener = ApplyListener.none
  ): Task[ApplySummary] = SqlScripts.applyTo(connection, List(this), options, listener)

object SqlScript:
  /** What may be on its way to a server that says no to a row: the driver's buffer, the socket's two, the server's. */
  private val keepBytes = 4_000_000L

  /** The script in a file. */
  def file(path: Path, limits: Limits = Limits.default): SqlScript =
    val size = Option.when(Files.isRegularFile(path))(Files.size(path))
    new SqlScript(path.toString, size, limits, size.nonEmpty, () => FileInputStream(path.toFile))

  /** The script that `open` gives, which is closed. It is opened again for each run of `pieces`.
    *
    * '''Cancelled''' while it is read: as soon as the read returns; at once if it is a `FileInputStream`, also of a pipe that
    * says nothing.
    */
  def fromInputStream(name: String, limits: Limits = Limits.default)(
      open: => InputStream
  ): SqlScript =
    new SqlScript(name, None, limits, canReopen = false, () => open)

  /** The script on the standard input, which can be read once. */
  def standardInput(limits: Limits = Limits.default): SqlScript =
    fromInputStream("<stdin>", limits)(FileInputStream(FileDescriptor.in))

  /** What the script in a file is split into: `file(path).pieces`. */
  def pieces(path: Path): Stream[Piece] = file(path).pieces
