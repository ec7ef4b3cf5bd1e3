package weir.postgres.protocol

import java.io.{InputStream, OutputStream}
import java.net.{
  SocketTimeoutException,
  StandardProtocolFamily,
  StandardSocketOptions,
  UnixDomainSocketAddress
}
import java.nio.ByteBuffer
import java.nio.channels.{SelectionKey, SocketChannel}
import java.nio.file.Path
import java.util.concurrent.locks.ReentrantLock

/** The two directions of a Unix domain socket. On a thread of the system a read is one call of it.
  *
  * The bytes go through direct buffers of this object: the JDK would take one from a cache for each
  * call, and allocate a new one while a parked thread holds the cached one.
  */
private[postgres] final class UnixStreams(path: Path):
  import UnixStreams.*

  private val channel = SocketChannel.open(StandardProtocolFamily.UNIX)

  // A hint to the system; Linux allocates twice as much.
  channel.setOption(StandardSocketOptions.SO_SNDBUF, SocketBytes): Unit

  def connect(): Unit = channel.connect(UnixDomainSocketAddress.of(path)): Unit
  def isConnected: Boolean = channel.isConnected
  def isClosed: Boolean = !channel.isOpen
  def close(): Unit = channel.close()
  def shutdownInput(): Unit = channel.shutdownInput(): Unit
  def shutdownOutput(): Unit = channel.shutdownOutput(): Unit

  def input(timeoutMillis: () => Int): InputStream = new InputStream:
    private val buffer = ByteBuffer.allocateDirect(ReadBytes)

    override def read(): Int =
      val one = new Array[Byte](1)
      if read(one, 0, 1) < 0 then -1 else one(0) & 0xff

    override def read(target: Array[Byte], offset: Int, length: Int): Int =
      buffer.clear().limit(math.min(length, ReadBytes))
      val timeout = timeoutMillis()
      val count = if timeout == 0 then channel.read(buffer) else readWithin(timeout, buffer)
      if count > 0 then buffer.flip().get(target, offset, count): Unit
      count

  /** A channel has no read timeout, so this uses a selector. The driver sets a timeout while it
    * connects, or if the user asks for one; no other thread reads or writes then.
    */
  private def readWithin(timeoutMillis: Int, buffer: ByteBuffer): Int =
    channel.configureBlocking(false)
    try
      var count = channel.read(buffer)
      if count == 0 then
        val selector = channel.provider.openSelector()
        try
          channel.register(selector, SelectionKey.OP_READ): Unit
          selector.select(timeoutMillis): Unit
          count = channel.read(buffer)
        finally selector.close()
      if count == 0 then throw SocketTimeoutException("Read timed out")
      count
    finally if channel.isOpen then channel.configureBlocking(true): Unit

  val output: OutputStream = new OutputStream:
    // The driver sends from one thread at a time, but closes from another one, with a last message.
    private val lock = ReentrantLock()
    private val buffer = ByteBuffer.allocateDirect(BufferBytes)

    override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit =
      lock.lock()
      try
        var at = offset
        while at < offset + length do
          val count = math.min(BufferBytes, offset + length - at)
          buffer.clear().put(bytes, at, count).flip(): Unit
          while buffer.hasRemaining do channel.write(buffer): Unit
          at += count
      finally lock.unlock()

private[postgres] object UnixStreams:
  /** The number of bytes that the driver collects before it writes: its `maxSendBufferSize`. */
  val BufferBytes: Int = 64 << 10

  /** The size of the socket's buffer: large, so that each wait is for many bytes. */
  val SocketBytes: Int = 256 << 10
  private val ReadBytes = 16 << 10
