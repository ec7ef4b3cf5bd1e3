package weir.postgres

import java.io.{FileDescriptor, FileInputStream, IOException, InputStream}
import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicReference
import weir.{Stream, Task}
import weir.postgres.input.{Checksum, Recent, ScriptInput, ScriptSource}
import weir.postgres.psql.{Commands, Folder}
import weir.postgres.split.{FollowedSettings, Reading}

/** A script of any size, in the form that `psql -f` takes: plain, or compressed by gzip or
  * Zstandard, which is recognized by its first bytes.
  *
  * @param name
  *   the name of the script in errors
  * @param sizeBytes
  *   the size of the file, compressed; none if it is not known
  */
final class SqlScript private (
    val name: String,
    val sizeBytes: Option[Long],
    limits: ScriptLimits,
    canReopen: Boolean,
    opening: () => InputStream
):
  @volatile private var taken = 0L
  @volatile private var recent: Recent | Null = null

  /** Returns the number of bytes of the compressed file that the latest run of `pieces` has read.
    */
  def readBytes: Long = taken

  /** Emits the pieces of the script, which it reads on demand. The file is closed when the stream
    * ends, in whatever way.
    *
    * **Fails** with a `ScriptException` if there is no such file, it is damaged, or cannot be
    * split; all pieces before that place have been emitted then.
    *
    * A statement of `\bind` comes without its values: only `applyTo` sends them.
    */
  def pieces: Stream[Piece] = piecesWith(PsqlOptions())

  /** Emits the pieces, as `pieces` does, with the variables of `psql`, of a script that is in this
    * `client_encoding` until it sets another.
    */
  def piecesWith(psql: PsqlOptions, encoding: String = "UTF8"): Stream[Piece] =
    val begun = Reading.of(encoding, standardStrings = true)
    groups(() => Commands(psql), () => FollowedSettings(begun), None, 0, 0).map(_.head)

  /** Emits the pieces, as `pieces` does, in groups of those that are there without reading on. The
    * bytes are added to `sum` before their pieces are emitted.
    *
    * @param commands
    *   carry out the commands of psql, in this script and those before it
    * @param settings
    *   those of the session, as the scripts before this one have left them
    * @param aheadBytes
    *   the number of bytes that the reader may be ahead of the last statement applied
    * @param groupBytes
    *   the number of bytes at which a group ends; 0 for groups of one piece
    */
  private[postgres] def groups(
      commands: () => Commands,
      settings: () => FollowedSettings,
      sum: Option[Checksum],
      aheadBytes: Long,
      groupBytes: Int
  ): Stream[Vector[Piece]] =
    Stream.fromSource(Task {
      val kept = if canReopen then null else Recent(SqlScript.keepBytes + aheadBytes)
      recent = kept
      ScriptSource(
        name,
        limits,
        commands(),
        settings(),
        () => ScriptInput(opening(), taken = _),
        sum,
        Option(kept),
        groupBytes
      )
    })

  /** Returns the line at the position of an error, or its part within 8 KB of it, for messages:
    * from the file, which is read again; of a stream or a pipe from the latest bytes that `pieces`
    * or `applyTo` has read. None if those no longer hold the line.
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

  /** The SHA-256 of the first `bytes` bytes, unpacked, if this is a file that has as many. */
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

  /** Applies this script: see `SqlScripts.applyTo`. */
  def applyTo(
      connection: ScriptConnection,
      options: ApplyOptions = ApplyOptions(),
      listener: ApplyListener = ApplyListener.none
  ): Task[ApplySummary] = SqlScripts.applyTo(connection, List(this), options, listener)

object SqlScript:
  /** The amount of data that may be between the reader and a server that refuses a row: in the
    * driver's buffer, the socket's two, and the server's.
    */
  private val keepBytes = 4_000_000L

  /** Returns the script in a file. */
  def file(path: Path, limits: ScriptLimits = ScriptLimits.default): SqlScript =
    val size = Option.when(Files.isRegularFile(path))(Files.size(path))
    new SqlScript(
      Folder.nameOf(path),
      size,
      limits,
      size.nonEmpty,
      () => FileInputStream(path.toFile)
    )

  /** Returns the script in the stream that `open` returns, which is closed after use. It is opened
    * again for each run of `pieces`, which **fails** if `open` returns the stream of the run
    * before.
    *
    * **Cancelled** while it is read: as soon as the read returns; at once if it is a
    * `FileInputStream`, also of a pipe that gives nothing.
    */
  def fromInputStream(name: String, limits: ScriptLimits = ScriptLimits.default)(
      open: => InputStream
  ): SqlScript =
    val before = AtomicReference[InputStream | Null](null)
    def opened =
      val input = open
      if before.getAndSet(input) eq input then
        throw IllegalStateException(
          s"SqlScript.fromInputStream: the input of $name was read by an earlier run. Pass an " +
            "expression that opens a new one: it is evaluated at each run."
        )
      input
    new SqlScript(name, None, limits, canReopen = false, () => opened)

  /** Returns the script on the standard input, which can be read once. */
  def standardInput(limits: ScriptLimits = ScriptLimits.default): SqlScript =
    fromInputStream("<stdin>", limits)(FileInputStream(FileDescriptor.in))

  /** Splits the script in a file: `file(path).pieces`. */
  def pieces(path: Path): Stream[Piece] = file(path).pieces
