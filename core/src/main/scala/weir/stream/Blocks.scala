package weir.stream

import java.io.{FileInputStream, InputStream}
import java.nio.ByteBuffer
import java.nio.channels.SeekableByteChannel
import java.nio.file.{Files, Path}
import java.util.Arrays
import weir.kernel.RunLoop
import weir.{Outcome, Task}

/** The bytes of an input, each block in an array of its own, as much as one read has given.
  *
  * Opening is masked: an input that has been opened is known, and so is closed. A read is not.
  */
private[weir] final class BlockSource(open: () => ByteInput, blockBytes: Int) extends Pull:
  private var input: ByteInput | Null = null
  private var block: Array[Byte] | Null = null
  private var ended = false

  private def read: Task[Int] = input.nn.read(block.nn)

  def next(fiber: RunLoop): Any =
    fiber.checkpoint()
    if ended then Pull.End
    else
      if input eq null then fiber.masked { input = open() }
      if block eq null then block = new Array[Byte](blockBytes)
      var count = fiber.await(read)
      while count == 0 do count = fiber.await(read)
      if count < 0 then
        ended = true
        Pull.End
      else take(count)

  /** A block that is not full is copied, so that nobody keeps more than it holds. */
  private def take(count: Int): Array[Byte] =
    val filled = block.nn
    if count < blockBytes then Arrays.copyOf(filled, count)
    else
      block = null
      filled

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    val opened = input
    if opened ne null then opened.close()

/** What blocks are read from. */
private[weir] abstract class ByteInput:
  /** How many bytes were put at the beginning of `block`; below 0 at the end. */
  def read(block: Array[Byte]): Task[Int]
  def close(): Unit

private[weir] object ByteInput:
  def ofPath(path: Path): ByteInput = ChannelInput(Files.newByteChannel(path))

  /** A read of a file's own stream knows no interrupts; one of its channel does. */
  def of(stream: InputStream): ByteInput =
    if stream.getClass eq classOf[FileInputStream] then
      ChannelInput(stream.asInstanceOf[FileInputStream].getChannel)
    else StreamInput(stream)

/** A read ends with an interrupt, which closes the channel. The JDK does that with a signal to the thread of the operating system,
  * and has none for a virtual thread: there whoever interrupts waits for the read. A file has an answer at once; what has no
  * size, such as a pipe or a terminal, may wait for long, and is read on a thread that can be signalled.
  */
private final class ChannelInput(channel: SeekableByteChannel) extends ByteInput:
  private val mayWait = channel.size() == 0

  def read(block: Array[Byte]): Task[Int] =
    if mayWait then Task.onPlatformThread(readNow(block)) else Task.delay(readNow(block))

  private def readNow(block: Array[Byte]): Int = channel.read(ByteBuffer.wrap(block))
  def close(): Unit = channel.close()

/** A cancel closes the stream beside the read, which may know no interrupts. */
private final class StreamInput(stream: InputStream) extends ByteInput:
  private var closed =
    false // under this object's lock: a cancel and the end of the stream may both close

  def read(block: Array[Byte]): Task[Int] =
    Task.delay(stream.read(block)).cancelable(Task(close()))

  def close(): Unit =
    val first = synchronized {
      val first = !closed
      closed = true
      first
    }
    if first then stream.close()
