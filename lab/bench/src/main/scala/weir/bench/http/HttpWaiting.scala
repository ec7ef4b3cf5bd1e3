package weir.bench.http

import java.net.{ConnectException, InetSocketAddress}
import java.nio.ByteBuffer
import java.nio.channels.SocketChannel
import java.nio.charset.StandardCharsets.ISO_8859_1

/** Opens connections, with a request on each that is never answered, and prints their number. Keeps
  * them until its input ends.
  */
object HttpWaiting:
  def main(args: Array[String]): Unit =
    val Array(port, connections) = args: @unchecked
    val request = s"GET /wait HTTP/1.1\r\nHost: localhost:$port\r\nUser-Agent: load\r\n\r\n"
    val all = for _ <- 1 to connections.toInt yield
      val channel = connected(InetSocketAddress("localhost", port.toInt))
      channel.write(ByteBuffer.wrap(request.getBytes(ISO_8859_1))): Unit
      channel
    println(all.size)
    while System.in.read() >= 0 do ()
    val buffer = ByteBuffer.allocate(100)
    for channel <- all do
      channel.configureBlocking(false): Unit
      val read = channel.read(buffer.clear())
      require(read == 0, s"a request that waits was answered, or its connection closed: $read")

  /** Connects, again if the server's queue of connections is full for the moment. */
  private def connected(to: InetSocketAddress, tries: Int = 1000): SocketChannel =
    try SocketChannel.open(to)
    catch
      case _: ConnectException if tries > 0 =>
        Thread.sleep(1)
        connected(to, tries - 1)
