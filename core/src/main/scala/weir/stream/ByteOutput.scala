package weir.stream

import java.io.{IOException, InputStream, OutputStream}
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.{Files, Path, StandardOpenOption}
import java.util.concurrent.ArrayBlockingQueue
import java.util.concurrent.atomic.AtomicBoolean
import weir.{Poll, Task}

/** The output that the sinks of bytes write to. */
private[weir] abstract class ByteOutput:
  /** Writes all of `block` and returns the number of bytes. */
  def write(block: Array[Byte]): Task[Int]
  def flush: Task[Unit]
  def close(): Unit

private[weir] object ByteOutput:
  /** As `ofPath`; must run in the `uncancelable` that `poll` belongs to. */
  def open(poll: Poll, path: Path, append: Boolean): Task[ByteOutput] = Task.defer {
    if ByteInput.mayWaitToOpen(path) then Task.abandonable(poll)(ofPath(path, append))(_.close())
    else Task.pure(ofPath(path, append))
  }

  def ofPath(path: Path, append: Boolean): ByteOutput =
    val how =
      if append then StandardOpenOption.APPEND else StandardOpenOption.TRUNCATE_EXISTING
    val channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, how)
    ChannelOutput(channel, mayWait = !Files.isRegularFile(path))

  def of(stream: OutputStream): ByteOutput = StreamOutput(stream)

/** The output of a file. A pipe or a terminal is written to on a platform thread, for the same
  * reason as in `ChannelInput`.
  */
private final class ChannelOutput(channel: FileChannel, mayWait: Boolean) extends ByteOutput:
  def write(block: Array[Byte]): Task[Int] =
    if mayWait then Task.onPlatformThread(writeNow(block)) else Task.delay(writeNow(block))

  private def writeNow(block: Array[Byte]): Int =
    val bytes = ByteBuffer.wrap(block)
    while bytes.hasRemaining do channel.write(bytes): Unit
    block.length

  def flush: Task[Unit] = Task.unit
  def close(): Unit = channel.close()

/** The output of a stream whose writes may ignore interrupts: a cancel closes it during the write.
  */
private final class StreamOutput(stream: OutputStream) extends ByteOutput:
  /** A cancel and the end of the stream may both close. */
  private val isClosed = AtomicBoolean()

  def write(block: Array[Byte]): Task[Int] =
    Task.delay { stream.write(block); block.length }.cancelable(Task(close()))

  def flush: Task[Unit] = Task.delay(stream.flush()).cancelable(Task(close()))

  def close(): Unit = if !isClosed.getAndSet(true) then stream.close()

/** The files of `writeRotating`. It belongs to one run of a stream. */
private[weir] final class RotatingFiles(limitBytes: Long, name: Int => Path):
  private var output: ByteOutput | Null = null
  private var size = 0L

  /** The number of files. */
  var count = 0

  def write(block: Array[Byte]): Task[Int] = Task.defer {
    if (output eq null) || (size > 0 && size + block.length > limitBytes) then openNext()
    size += block.length
    output.nn.write(block)
  }

  private def openNext(): Unit =
    close()
    output = ByteOutput.ofPath(name(count), append = false)
    count += 1
    size = 0

  def close(): Unit =
    val open = output
    output = null
    if open ne null then open.close()

/** The bytes that a fiber has put, for code that reads an `InputStream`. */
private[weir] final class QueuedInput extends InputStream:
  import QueuedInput.End

  private val queue = ArrayBlockingQueue[Array[Byte] | End](1)
  @volatile private var isClosed = false

  // the reader only
  private var block = new Array[Byte](0)
  private var at = 0
  private var end: End | Null = null

  // ---- the fiber that puts ----

  def put(block: Array[Byte]): Task[Unit] = Task.delay(queue.put(block))

  def putEnd(result: Either[Throwable, Unit]): Task[Unit] =
    Task.delay(queue.put(End(result.left.toOption)))

  /** Called when that fiber has ended: a read that waits must end too. */
  def finish(): Unit =
    isClosed = true
    queue.clear()
    queue.offer(End(None)): Unit

  // ---- the reader ----

  override def read(): Int =
    val one = new Array[Byte](1)
    if read(one, 0, 1) < 0 then -1 else one(0) & 0xff

  override def read(into: Array[Byte], offset: Int, length: Int): Int =
    java.util.Objects.checkFromIndexSize(offset, length, into.length): Unit
    if length == 0 then 0
    else
      while at == block.length && (end eq null) do take()
      if isClosed then throw IOException("Stream.toInputStream: it is closed.")
      else if at < block.length then
        val count = math.min(length, block.length - at)
        System.arraycopy(block, at, into, offset, count)
        at += count
        count
      else
        end.nn.error.foreach(error =>
          throw IOException(s"Stream.toInputStream: the stream has failed with $error", error)
        )
        -1

  private def take(): Unit =
    if isClosed then throw IOException("Stream.toInputStream: it is closed.")
    queue.take() match
      case bytes: Array[Byte] =>
        block = bytes
        at = 0
      case last: End => end = last

  override def available(): Int = block.length - at
  override def close(): Unit = isClosed = true

private[weir] object QueuedInput:
  final class End(val error: Option[Throwable])
