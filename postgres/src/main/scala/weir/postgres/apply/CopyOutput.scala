package weir.postgres.apply

import java.io.{BufferedOutputStream, ByteArrayOutputStream, IOException, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.nio.file.StandardOpenOption.{APPEND, CREATE, TRUNCATE_EXISTING, WRITE}
import weir.postgres.psql.CommandProblem

/** The files and the output to which `\copy … TO` writes. */
private[apply] object CopyOutput:
  /** **Fails** with a `CommandProblem` if the file cannot be written.
    */
  def file(name: String, appends: Boolean = false): OutputStream =
    val options = if appends then List(CREATE, APPEND) else List(CREATE, WRITE, TRUNCATE_EXISTING)
    try BufferedOutputStream(Files.newOutputStream(Path.of(name), options*), 64 << 10)
    catch case error: IOException => throw problem(name, error)

  /** Calls `print` with the lines that are written. */
  def printed(print: String => Unit): OutputStream = Lines(print)

  def problem(name: String, error: IOException) = CommandProblem(
    s"$name cannot be written: ${error.getMessage}",
    "Look at its folder, and at its rights. Relative names begin in the current folder."
  )

  def readsNoMore(program: String) = CommandProblem(
    s"$program: could not write all data: the program reads no more",
    "Have it read its input to the end, by cat >/dev/null if it does not need the rest."
  )

  /** Writes to `target` up to the first error, and drops the rest: the statement that sends the
    * data has no part in the error, and its transaction goes on, as with psql.
    */
  final class Draining(target: OutputStream) extends OutputStream:
    private var failure: IOException | Null = null

    def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)
    override def write(bytes: Array[Byte], from: Int, length: Int): Unit =
      guarded(target.write(bytes, from, length))

    /** Returns true if all was written so far. */
    def isWhole: Boolean = failure eq null

    /** Closes the target, and returns the first error; null if all was written. **Fails** as the
      * close of the target does, except with an `IOException`.
      */
    def end(): IOException | Null =
      guarded(target.flush())
      try target.close()
      catch case error: IOException => if failure eq null then failure = error
      failure

    private inline def guarded(inline body: Unit): Unit =
      if failure eq null then
        try body
        catch case error: IOException => failure = error

  private final class Lines(print: String => Unit) extends OutputStream:
    private val line = ByteArrayOutputStream()

    def write(byte: Int): Unit =
      line.write(byte)
      if byte == '\n' then flush()

    override def flush(): Unit =
      if line.size > 0 then print(String(line.toByteArray, UTF_8))
      line.reset()

    override def close(): Unit = flush()
