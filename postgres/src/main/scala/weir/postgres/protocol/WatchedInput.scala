package weir.postgres.protocol

import java.io.{IOException, InputStream}
import java.net.SocketTimeoutException
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock

/** The bytes that a server sends over one socket: read by the driver, or, during a COPY, by a
  * thread of their own, so that the server can always write. README.md has the protocol.
  *
  * @param raw
  *   the socket
  * @param readTimeoutMillis
  *   the socket's `SO_TIMEOUT`; 0 for none
  */
private[postgres] final class WatchedInput(
    raw: InputStream,
    readTimeoutMillis: () => Int,
    notice: Array[Byte] => Unit
) extends InputStream:
  import WatchedInput.*

  // immutable
  private val lock = ReentrantLock()
  private val arrived = lock.newCondition()
  val messages = ServerMessages(notice)

  // owner only: the thread that reads, which is the driver's unless `watched`
  private val scratch = new Array[Byte](ChunkBytes)

  // shared: under the lock
  private val queue = ByteQueue(ChunkBytes)
  private var watched = false
  private var ending: Ending | Null = null

  /** Starts a thread that reads until the server is ready for the next statement. Does nothing if
    * no COPY is open.
    */
  def watch(): Unit =
    val begins = locked {
      val begins = messages.copyIsOpen && !watched && (ending eq null)
      if begins then watched = true
      begins
    }
    if begins then
      val thread = Thread.ofPlatform().daemon().name("weir-copy-watch")
      thread.start(() => readUntilReady()): Unit

  private def readUntilReady(): Unit =
    var goesOn = true
    while goesOn do
      val end = readRaw()
      locked {
        accept(end)
        goesOn = (ending eq null) && messages.copyIsOpen
        if !goesOn then watched = false // from here on `scratch` and `raw` are the driver's
        arrived.signalAll()
      }

  override def read(): Int =
    val one = new Array[Byte](1)
    if read(one, 0, 1) < 0 then -1 else one(0) & 0xff

  override def read(target: Array[Byte], offset: Int, length: Int): Int =
    if length == 0 then 0
    else
      var count = tryTake(target, offset, length)
      while count == 0 do
        // There is no watch, so this thread alone reads; without the lock, since `available` must
        // not wait for the server.
        val end = readRaw()
        locked(accept(end))
        val exchange = messages.exchange
        if exchange ne null then exchange.send()
        val extended = messages.extended
        if extended ne null then extended.reply()
        count = tryTake(target, offset, length)
      count

  /** Returns the number of bytes taken from the queue, or -1 at the end; 0 if the caller has to
    * read the socket. Waits for the watch.
    */
  private def tryTake(target: Array[Byte], offset: Int, length: Int): Int = locked {
    val timeoutMillis = readTimeoutMillis()
    var nanosLeft = TimeUnit.MILLISECONDS.toNanos(timeoutMillis)
    while queue.isEmpty && watched do
      if timeoutMillis == 0 then arrived.awaitUninterruptibly()
      else if nanosLeft <= 0 then throw SocketTimeoutException("Read timed out")
      else nanosLeft = arrived.awaitNanos(nanosLeft)
    if !queue.isEmpty then queue.take(target, offset, length)
    else
      ending match
        case null => 0
        case Ending.EndOfStream => -1
        case Ending.Broken(error) => throw IOException(error.getMessage, error)
  }

  /** Bytes read into `scratch`, or how the stream has ended. A timeout is neither. */
  private def readRaw(): Int | Ending =
    try
      val count = raw.read(scratch, 0, scratch.length)
      if count < 0 then Ending.EndOfStream else count
    catch
      case timeout: SocketTimeoutException if !watched => throw timeout
      case _: SocketTimeoutException => 0
      case error: IOException => Ending.Broken(error)

  private def accept(read: Int | Ending): Unit = read match
    case count: Int => messages.feed(scratch, count, queue)
    case end: Ending => ending = end

  /** Reads all that the server has sent, which may end with an error message. For a connection that
    * cannot be used any more.
    */
  def readToTheEnd(): Unit =
    val bin = new Array[Byte](ChunkBytes)
    try while read(bin, 0, bin.length) >= 0 do ()
    catch case _: IOException => ()

  override def available(): Int = locked(queue.size)

  private inline def locked[A](inline body: A): A =
    lock.lock()
    try body
    finally lock.unlock()

private object WatchedInput:
  private val ChunkBytes = 16 << 10

  enum Ending:
    case EndOfStream
    case Broken(error: IOException)
