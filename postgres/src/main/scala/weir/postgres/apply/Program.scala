package weir.postgres.apply

import java.io.{BufferedOutputStream, IOException, InputStream, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration
import java.util.concurrent.TimeUnit
import weir.postgres.psql.{CommandProblem, ShellProgram}

/** A program that the shell runs while the script goes on. It reads what is written to `input`. */
private[apply] final class Program private (process: Process, print: String => Unit):
  val input: OutputStream = BufferedOutputStream(process.getOutputStream, 64 << 10)

  private val printing = Thread.ofVirtual().start(() => printAll(process.getInputStream))

  /** Ends its input, waits until it has ended, and returns its exit code. */
  def close(): Int =
    closeInput()
    val code = process.waitFor()
    printing.join()
    code

  /** Ends its input, and ends the program if it goes on after that. */
  def abandon(): Unit =
    // the close waits while the program does not read
    Thread.ofVirtual().start(() => closeInput()): Unit
    if !process.waitFor(3, TimeUnit.SECONDS) then kill()
    // a process that it has left running may hold its output
    printing.join(Duration.ofSeconds(1)): Unit

  /** Ends the program and the processes that it has started. A write to it fails then. */
  def kill(): Unit = ShellProgram.kill(process)

  private def closeInput(): Unit =
    try input.close()
    catch case _: IOException => () // it has read enough

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
    try Program(ShellProgram.builder(command).start(), print)
    catch
      case error: IOException =>
        throw CommandProblem(s"${command.head}: ${error.getMessage}", "Is there a shell, /bin/sh?")
