package weir.bench.http

import java.net.InetSocketAddress
import java.nio.ByteBuffer
import java.nio.channels.{SelectionKey, Selector, SocketChannel}
import java.nio.charset.StandardCharsets.ISO_8859_1
import scala.jdk.CollectionConverters.*

/** Sends requests over connections that it keeps, on one thread, and prints how many were answered
  * in a second, how long these took, and the processor time that the server has used for each.
  *
  * The first response says how many bytes each of them has: they must all be of the same size.
  */
object HttpLoad:
  def main(args: Array[String]): Unit =
    val Array(port, server, path, connections, warmSeconds, seconds) = args: @unchecked
    val load = HttpLoad(port.toInt, server.toLong, path, connections.toInt)
    load.run(warmSeconds.toInt): Unit
    println(load.run(seconds.toInt))

/** @param server
  *   the server's process
  */
final class HttpLoad(port: Int, server: Long, path: String, connections: Int):
  private val request =
    s"GET $path HTTP/1.1\r\nHost: localhost:$port\r\nUser-Agent: load\r\nAccept: */*\r\n\r\n"
      .getBytes(ISO_8859_1)

  /** The bytes of a response, header fields included. */
  private val responseBytes: Long =
    val channel = SocketChannel.open(InetSocketAddress("localhost", port))
    channel.write(ByteBuffer.wrap(request)): Unit
    val buffer = ByteBuffer.allocate(262_144)
    var text = ""
    var total = 0L
    var expected = -1L
    while expected < 0 || total < expected do
      val count = channel.read(buffer)
      require(count > 0, s"the server has closed the connection after $total bytes")
      total += count
      if expected < 0 then
        text += String(buffer.array, 0, buffer.position, ISO_8859_1)
        val end = text.indexOf("\r\n\r\n")
        if end >= 0 then
          require(text.startsWith("HTTP/1.1 200"), text.take(100))
          val length = "(?i)content-length: *([0-9]+)".r.findFirstMatchIn(text.take(end))
          expected =
            end + 4 + length.fold(sys.error(s"no length: ${text.take(end)}"))(_.group(1).toLong)
      buffer.clear(): Unit
    channel.close()
    expected

  private final class Exchange(val channel: SocketChannel):
    var begunNanos = 0L
    var left = 0L
    def begin(): Unit =
      begunNanos = System.nanoTime()
      left = responseBytes
      channel.write(ByteBuffer.wrap(request)): Unit

  def run(seconds: Int): String =
    val selector = Selector.open()
    val all = Vector.fill(connections) {
      val channel = SocketChannel.open(InetSocketAddress("localhost", port))
      channel.configureBlocking(false): Unit
      channel.socket.setTcpNoDelay(true)
      val exchange = Exchange(channel)
      channel.register(selector, SelectionKey.OP_READ, exchange): Unit
      exchange
    }
    val nanos = Array.ofDim[Long](20_000_000)
    var count = 0
    val buffer = ByteBuffer.allocateDirect(1 << 20)
    val usedBefore = processorNanos
    val start = System.nanoTime()
    val end = start + seconds * 1_000_000_000L
    all.foreach(_.begin())
    while System.nanoTime() < end do
      selector.select(100): Unit
      for key <- selector.selectedKeys.asScala do
        val exchange = key.attachment.asInstanceOf[Exchange]
        buffer.clear(): Unit
        val read = exchange.channel.read(buffer)
        require(read >= 0, "the server has closed a connection")
        exchange.left -= read
        require(exchange.left >= 0, "a response was longer than the first one")
        if exchange.left == 0 then
          nanos(count) = System.nanoTime() - exchange.begunNanos
          count += 1
          exchange.begin()
      selector.selectedKeys.clear()
    val took = (System.nanoTime() - start) / 1e9
    val used = processorNanos - usedBefore
    all.foreach(_.channel.close())
    selector.close()
    val sorted = java.util.Arrays.copyOf(nanos, count).nn
    java.util.Arrays.sort(sorted)
    def millis(part: Double) = sorted((part * (count - 1)).toInt) / 1e6
    f"${count / took}%.0f /s, p50 ${millis(0.5)}%.2f ms, p99 ${millis(0.99)}%.2f ms, " +
      f"${count / took * responseBytes / 1e6}%.1f MB/s, ${used / 1e3 / count}%.1f us of the server"

  /** The processor time that the server has used. */
  private def processorNanos: Long =
    ProcessHandle.of(server).get.info.totalCpuDuration.get.toNanos
