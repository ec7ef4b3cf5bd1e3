package fs2.io.net

import com.comcast.ip4s.{GenSocketAddress, IpAddress, SocketAddress}
import fs2.{Chunk, Pipe, Stream}
import java.net.SocketOption as JavaOption
import java.util.{Arrays, Set as JavaSet}
import java.util.concurrent.locks.ReentrantLock
import weir.Task

/** A connection whose reads and writes block the worker.
  *
  *   - **Cancelled** while it waits for bytes: none are lost, and the next read goes on. The next
  *     read gets the bytes that a `readN` had by then. While it writes: some bytes have been sent,
  *     as with any socket of fs2's.
  *   - Reads take turns, and so do writes, by locks in plain code: no instruction of a fiber is
  *     spent on them.
  */
private[net] final class TaskSocket(socket: BlockingSocket) extends Socket[Task], TaskSocketInfo:
  private val input = socket.getInputStream
  private val output = socket.getOutputStream
  private val reading = ReentrantLock()
  private val writing = ReentrantLock()

  // under `reading`
  /** Grows while reads fill it: a connection that is idle needs little, a large body many bytes. */
  private var buffer = new Array[Byte](TaskSocket.firstBuffer)

  /** The bytes that have been read and not been asked for. So a protocol that asks for five bytes,
    * and then for as many as these say, costs one system call for all that has come, and not two
    * for each message.
    */
  private var start, end = 0

  val address: GenSocketAddress =
    SocketAddressHelpers.toGenSocketAddress(socket.getLocalSocketAddress)
  val peerAddress: GenSocketAddress =
    SocketAddressHelpers.toGenSocketAddress(socket.getRemoteSocketAddress)

  def read(maxBytes: Int): Task[Option[Chunk[Byte]]] = OnWorker(
    locked(reading, isClosed)(readSome(maxBytes))
  )

  def readN(numBytes: Int): Task[Chunk[Byte]] = OnWorker(
    locked(reading, isClosed)(readAll(numBytes))
  )

  def reads: Stream[Task, Byte] =
    Stream.repeatEval(read(TaskSocket.defaultRead)).unNoneTerminate.unchunks

  def write(bytes: Chunk[Byte]): Task[Unit] = OnWorker(
    locked(writing, isClosed || socket.isOutputShutdown) {
      val slice = bytes.toArraySlice
      output.write(slice.values, slice.offset, slice.length)
    }
  )

  def writes: Pipe[Task, Byte, Nothing] = _.chunks.foreach(write)

  def endOfInput: Task[Unit] = Task(BlockingSocket.errors(isClosed)(socket.shutdownInput()))
  def endOfOutput: Task[Unit] = Task(BlockingSocket.errors(isClosed)(socket.shutdownOutput()))

  private def readSome(most: Int): Option[Chunk[Byte]] =
    val isOpen = start < end || fill()
    if isOpen then Some(taken(math.min(most, end - start))) else None

  private def readAll(wanted: Int): Chunk[Byte] =
    while end - start < wanted && fill(wanted) do ()
    taken(math.min(wanted, end - start))

  /** Reads what there is, at least a byte, into a buffer that has room for `wanted` bytes. False at
    * the end of the input.
    */
  private def fill(wanted: Int = 1): Boolean =
    if start == end then
      start = 0
      end = 0
    if buffer.length - start < wanted then makeRoom(wanted)
    val count = input.read(buffer, end, buffer.length - end)
    if count > 0 then end += count
    count >= 0

  private def makeRoom(wanted: Int): Unit =
    val larger = if buffer.length < wanted then new Array[Byte](wanted) else buffer
    System.arraycopy(buffer, start, larger, 0, end - start)
    end -= start
    start = 0
    buffer = larger

  private def taken(count: Int): Chunk[Byte] =
    val bytes = Arrays.copyOfRange(buffer, start, start + count)
    start += count
    if start == end && end == buffer.length && end < TaskSocket.largestBuffer then
      buffer = new Array[Byte](math.min(end * 2, TaskSocket.largestBuffer))
      start = 0
      end = 0
    Chunk.array(bytes)

  private inline def locked[A](lock: ReentrantLock, inline isOver: Boolean)(inline body: A): A =
    lock.lockInterruptibly()
    try BlockingSocket.errors(isOver)(body)
    finally lock.unlock()

  // options

  protected def isClosed: Boolean = socket.isClosed
  protected def optionsOfSocket: JavaSet[JavaOption[?]] = socket.supportedOptions
  protected def optionOfSocket[A](key: JavaOption[A]): A = socket.getOption(key)
  protected def changeOption[A](key: JavaOption[A], value: A): Unit =
    socket.setOption(key, value): Unit

  // deprecated

  def isOpen: Task[Boolean] = Task(!socket.isClosed)
  def localAddress: Task[SocketAddress[IpAddress]] = Task(address.asIpUnsafe)
  def remoteAddress: Task[SocketAddress[IpAddress]] = Task(peerAddress.asIpUnsafe)

private[net] object TaskSocket:
  private inline val firstBuffer = 8192
  private inline val defaultRead = 8192

  /** The largest number of bytes that the JDK reads at once. */
  private inline val largestBuffer = 131072
