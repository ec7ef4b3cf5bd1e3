package weir.postgres.apply

import java.io.{BufferedOutputStream, IOException, InputStream, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import weir.postgres.psql.CommandProblem

/** A program that the shell runs while the script goes on. It reads what is written to `input`. */
private[apply] final class Program private (process: Process, print: String => Unit):
  val input: OutputStream = BufferedOutputStream(process.getOutputStream, 64 << 10)

  private val printing = Thread.ofVirtual().start(() => printAll(process.getInputStream))

  /** Ends its input, waits until it has ended, and returns its exit code. */
  def close(): Int =
    try input.close()
    catch case _: IOException => () // it has read enough
    val code = process.waitFor()
    printing.join()
    code

  /** Ends its input, and ends the program if it goes on after that. */
  def abandon(): Unit =
    try input.close()
    catch case _: IOException => () // it has read enough
    if !process.waitFor(3, TimeUnit.SECONDS) then process.destroyForcibly(): Unit
    printing.join()

  private def printAll(from: InputStream): Unit =
    val reader = java.io.InputStreamReader(from, UTF_8)
    val text = new Array[Char](8192)
    try
      var count = reader.read(text)
      while count >= 0 do
        print(String(text, 0, count))
        count = reader.read(text)
    catch case _: IOException => () // it was ended

private[apply] object Program:
  /** @param command
    *   as in a command `!`
    * @param print
    *   called with what it prints, by a thread of its own
    */
  def start(command: List[String], print: String => Unit): Program =
    val text :: folder :: changes = command: @unchecked
    val made = Program.builder(text, Path.of(folder), changes)
    try Program(made.start(), print)
    catch
      case error: IOException =>
        throw CommandProblem(s"$text: ${error.getMessage}", "Is there a shell, /bin/sh?")

  /** Returns the program that the shell runs for `text`, with its output as a pipe.
    *
    * @param changes
    *   of its environment, each `NAME=VALUE`, or `NAME` alone to remove one
    */
  def builder(text: String, folder: Path, changes: List[String]): ProcessBuilder =
    val made = ProcessBuilder("/bin/sh", "-c", text)
      .directory(folder.toAbsolutePath.toFile)
      .redirectError(ProcessBuilder.Redirect.INHERIT)
    for change <- changes do
      val (name, value) = change.span(_ != '=')
      if value.isEmpty then made.environment.remove(name): Unit
      else made.environment.put(name, value.drop(1)): Unit
    made
