package weir.postgres.input

import java.io.{ByteArrayInputStream, IOException, InputStream, InterruptedIOException}
import java.util.concurrent.ArrayBlockingQueue
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
  import ProgramInput.*

  private val blocks = ArrayBlockingQueue[Block](MostBlocks)
  private var process: Process | Null = null
  private var reader: Thread | Null = null

  // of the block that was taken last
  private var left = ByteArrayInputStream(Array.emptyByteArray)
  private var end: Block.End | Null = null

  /** The text that the shell runs, for errors. */
  val name: String = shell.head

  override def read(bytes: Array[Byte], from: Int, length: Int): Int =
    if process eq null then start()
    if left.available == 0 && (end eq null) then take()
    val ended = end
    if ended eq null then left.read(bytes, from, length)
    else if ended.error eq null then -1
    else throw IOException(ended.error.nn.getMessage, ended.error)

  private def take(): Unit =
    try
      blocks.take() match
        case Block.Bytes(bytes) => left = ByteArrayInputStream(bytes)
        case ended: Block.End => end = ended
    catch case _: InterruptedException => throw InterruptedIOException()

  private def start(): Unit =
    val started =
      ShellProgram.readToEnd(shell).redirectInput(ProcessBuilder.Redirect.INHERIT).start()
    process = started
    reader = Thread
      .ofPlatform()
      .daemon()
      .name("weir-program-output")
      .start(() => readAll(started.getInputStream))

  /** Reads up to the end, which comes once no process holds the other end.
    *
    * The JDK reads what is left when the process has ended, and takes the stream's monitor for
    * that. So this thread keeps it.
    */
  private def readAll(output: InputStream): Unit = output.synchronized:
    try blocks.put(Block.End(readBlocks(output)))
    catch case _: InterruptedException => () // closed: nobody takes the blocks
    finally
      try output.close()
      catch case _: IOException => () // it was only read

  /** Returns the error at which the output could not be read any further; null at its end. */
  private def readBlocks(output: InputStream): Throwable | Null =
    try
      val block = new Array[Byte](ScriptSource.PipeBytes)
      var count = output.read(block)
      while count >= 0 do
        blocks.put(Block.Bytes(block.take(count)))
        count = output.read(block)
      null
    catch
      case interrupt: InterruptedException => throw interrupt
      case error: Throwable => error

  /** Takes no more of the output: a program that goes on to write is ended by the system. */
  override def close(): Unit = if reader ne null then reader.nn.interrupt()

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

private[input] object ProgramInput:
  /** The blocks that are read ahead. */
  private final val MostBlocks = 2

  private enum Block:
    case Bytes(bytes: Array[Byte])
    case End(error: Throwable | Null)
