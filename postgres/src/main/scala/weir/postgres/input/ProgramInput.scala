package weir.postgres.input

import java.io.{IOException, InputStream, PipedInputStream, PipedOutputStream}
import weir.postgres.psql.ShellProgram

/** The output of a program that `\copy` names. It is started by the first read.
  *
  * A thread of its own reads from the program: nothing ends such a read while a process holds the
  * other end, so that a cancel could not either.
  *
  * @param shell
  *   what the shell runs, as in a command `!`
  */
private[input] final class ProgramInput(shell: List[String]) extends WaitingInput:
  private val output = PipedInputStream(ScriptSource.PipeBytes)
  private var process: Process | Null = null

  /** The text that the shell runs, for errors. */
  val name: String = shell.head

  override def read(bytes: Array[Byte], from: Int, length: Int): Int =
    if process eq null then start()
    output.read(bytes, from, length)

  private def start(): Unit =
    val pipe = PipedOutputStream(output)
    val started =
      ShellProgram.builder(shell).redirectInput(ProcessBuilder.Redirect.INHERIT).start()
    process = started
    Thread
      .ofPlatform()
      .daemon()
      .name("weir-program-output")
      .start(() => pass(started.getInputStream, pipe)): Unit

  private def pass(from: InputStream, to: PipedOutputStream): Unit =
    val block = new Array[Byte](ScriptSource.PipeBytes)
    try
      var count = from.read(block)
      while count >= 0 do
        to.write(block, 0, count)
        to.flush() // which wakes the reader
        count = from.read(block)
    catch case _: IOException => () // nothing more is read
    finally
      to.close()
      try from.close()
      catch case _: IOException => () // it was only read

  /** Takes no more of the output: a program that goes on to write is ended by the system. */
  override def close(): Unit = output.close()

  /** Returns its exit code, 0 if it was not started. **Waits** until it has ended. An interrupt
    * ends the wait.
    */
  def exitCode(): Int =
    val started = process
    if started eq null then 0 else started.waitFor()

  /** Ends it, if it still runs, with the processes that it has started. */
  def kill(): Unit =
    val started = process
    if (started ne null) && started.isAlive then ShellProgram.kill(started)
