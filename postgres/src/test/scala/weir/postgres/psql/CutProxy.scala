package weir.postgres.psql

import java.io.{IOException, InputStream, OutputStream}
import java.net.{InetAddress, ServerSocket, Socket}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

/** A proxy between a client and a server that counts bytes and can be cut. */
final class CutProxy(serverPort: Int) extends AutoCloseable:
  private val listening = ServerSocket(0, 50, InetAddress.getLoopbackAddress)
  private val sockets = ConcurrentLinkedQueue[Socket]()
  private val released = CountDownLatch(1)
  @volatile private var stalled = false
  @volatile private var holding = false

  val port: Int = listening.getLocalPort

  /** The number of connections that have come. */
  val accepted: AtomicInteger = AtomicInteger()

  /** The number of bytes that were sent to the server. */
  val sentBytes: AtomicLong = AtomicLong()

  Thread.ofPlatform().daemon().name("proxy").start { () =>
    try
      while true do
        val client = listening.accept()
        try join(client)
        catch case _: IOException => client.close() // it was cut meanwhile
    catch case _: IOException => ()
  }: Unit

  /** Closes all connections on both sides. New ones are taken. */
  def cut(): Unit =
    sockets.forEach(_.close())
    sockets.clear()

  /** True if it holds back bytes, because it is paused. */
  @volatile var keepsBytes = false

  /** Takes no more bytes from either side, without closing anything. */
  def stall(): Unit = stalled = true

  /** Accepts new connections without passing them on. */
  def hold(): Unit = holding = true

  def close(): Unit =
    released.countDown()
    listening.close()
    cut()

  private def join(client: Socket): Unit =
    accepted.incrementAndGet(): Unit
    sockets.add(client)
    if !holding then
      val server = Socket(InetAddress.getLoopbackAddress, serverPort)
      sockets.add(server)
      carry(client.getInputStream, server.getOutputStream, sentBytes)
      carry(server.getInputStream, client.getOutputStream, AtomicLong())

  private def carry(from: InputStream, to: OutputStream, count: AtomicLong): Unit =
    Thread.ofPlatform().daemon().name("proxy").start { () =>
      val bytes = new Array[Byte](64 << 10)
      try
        var length = from.read(bytes)
        while length > 0 do
          if stalled then
            keepsBytes = true
            released.await()
          to.write(bytes, 0, length)
          count.addAndGet(length)
          length = from.read(bytes)
      catch case _: IOException => ()
      finally
        from.close()
        to.close()
    }: Unit
