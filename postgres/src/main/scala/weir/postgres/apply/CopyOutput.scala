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

  private final class Lines(print: String => Unit) extends OutputStream:
    private val line = ByteArrayOutputStream()

    def write(byte: Int): Unit =
      line.write(byte)
      if byte == '\n' then flush()

    override def flush(): Unit =
      if line.size > 0 then print(String(line.toByteArray, UTF_8))
      line.reset()

    override def close(): Unit = flush()
