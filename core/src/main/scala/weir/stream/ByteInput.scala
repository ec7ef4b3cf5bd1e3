package weir.stream

import java.io.{FileInputStream, IOException, InputStream}
import java.net.Socket
import java.nio.ByteBuffer
import java.nio.channels.SeekableByteChannel
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.{FileSystemException, Files, Path}
import java.util.concurrent.atomic.AtomicBoolean
import weir.Task

/** The input that a `BlockSource` reads from. */
private[weir] abstract class ByteInput:
  /** Reads bytes into the beginning of `block` and returns their number; below 0 at the end. */
  def read(block: Array[Byte]): Task[Int]
  def close(): Unit

private[weir] object ByteInput:
  /** Returns the input of a file or a pipe. **Fails** with a `FileSystemException` if there is
    * none, and for a directory, which could be opened but not read.
    */
  def ofPath(path: Path): ByteInput = attributesOf(path) match
    case known: BasicFileAttributes if known.isDirectory => throw directoryError(path)
    case known: BasicFileAttributes if known.isOther => PipeInput(path)
    case _ => ChannelInput(Files.newByteChannel(path))

  /** The error of a directory in place of a file, in the words of the JDK's for writers. */
  def directoryError(path: Path): IOException =
    FileSystemException(path.toString, null, "Is a directory")

  /** Returns true if `path` may be a named pipe, whose opening waits until another process opens
    * its other end.
    */
  def mayWaitToOpen(path: Path): Boolean = attributesOf(path) match
    case known: BasicFileAttributes => known.isOther
    case null => false

  private def attributesOf(path: Path): BasicFileAttributes | Null =
    try Files.readAttributes(path, classOf[BasicFileAttributes])
    catch case _: IOException => null // the opening reports the error

  /** Returns the input of `stream`. A read of a `FileInputStream` ignores interrupts; a read of its
    * channel does not.
    */
  def of(stream: InputStream): ByteInput =
    if stream.getClass eq classOf[FileInputStream] then
      ChannelInput(stream.asInstanceOf[FileInputStream].getChannel)
    else StreamInput(stream)

  /** Returns the input of a socket. A cancel of a read runs `cut`. The end of the stream leaves the
    * socket open.
    */
  def ofSocket(socket: Socket, cut: Task[Unit]): ByteInput = new ByteInput:
    private val input = socket.getInputStream
    def read(block: Array[Byte]): Task[Int] = Task.delay(input.read(block)).cancelable(cut)
    def close(): Unit = ()

  /** Returns an input for the output of a process. A read may wait until all processes that hold
    * the output have ended.
    */
  def ofProcess(input: InputStream, kill: Task[Unit]): ByteInput = new ByteInput:
    def read(block: Array[Byte]): Task[Int] =
      Task.uncancelable(poll => Task.abandonable(poll)(input.read(block))(_ => ()).onCancel(kill))
    def close(): Unit = ()

/** The input of a file, a pipe or a terminal.
  *
  * An interrupt ends a read, and closes the channel. To end it, the JDK sends a signal to the
  * thread of the operating system. It sends none for a virtual thread: there the canceller that
  * interrupts waits for the read. A read of a file returns at once. A read of an input without a
  * size, such as a pipe or a terminal, may wait for long, and is done on a platform thread.
  */
private final class ChannelInput(channel: SeekableByteChannel) extends ByteInput:
  private val mayWait = channel.size() == 0

  def read(block: Array[Byte]): Task[Int] =
    if mayWait then Task.onPlatformThread(readNow(block)) else Task.delay(readNow(block))

  private def readNow(block: Array[Byte]): Int = channel.read(ByteBuffer.wrap(block))
  def close(): Unit = channel.close()

/** The input of a named pipe or a device. The first read opens it, since only a read can be
  * cancelled.
  */
private final class PipeInput(path: Path) extends ByteInput:
  private var opened: ByteInput | Null = null

  def read(block: Array[Byte]): Task[Int] = Task.defer {
    val input = opened
    if input eq null then open.flatMap(_.read(block)) else input.read(block)
  }

  private def open: Task[ByteInput] = Task.uncancelable(poll =>
    Task.abandonable(poll)(ChannelInput(Files.newByteChannel(path)))(_.close()).map { input =>
      opened = input
      input
    }
  )

  def close(): Unit =
    val input = opened
    if input ne null then input.close()

/** The input of a stream whose reads may ignore interrupts: a cancel closes it during the read. */
private final class StreamInput(stream: InputStream) extends ByteInput:
  /** A cancel and the end of the stream may both close. */
  private val isClosed = AtomicBoolean()

  def read(block: Array[Byte]): Task[Int] =
    Task.delay(stream.read(block)).cancelable(Task(close()))

  def close(): Unit = if !isClosed.getAndSet(true) then stream.close()
