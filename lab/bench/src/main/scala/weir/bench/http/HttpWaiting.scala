package weir.bench.http

import java.io.IOException
import java.net.{ConnectException, InetSocketAddress}
import java.nio.ByteBuffer
import java.nio.channels.SocketChannel
import java.nio.charset.StandardCharsets.ISO_8859_1

/** Opens connections, with a request on each that is never answered, and prints how many could be
  * opened. Keeps them until its input ends. Fails if one was answered or closed meanwhile.
  */
object HttpWaiting:
  def main(args: Array[String]): Unit =
    val Array(port, connections) = args: @unchecked
    val request = s"GET /wait HTTP/1.1\r\nHost: localhost:$port\r\nUser-Agent: load\r\n\r\n"
    val all = Iterator
      .continually(connected(InetSocketAddress("localhost", port.toInt)))
      .take(connections.toInt)
      .takeWhile(_.isDefined)
      .flatten
      .map { channel =>
        channel.write(ByteBuffer.wrap(request.getBytes(ISO_8859_1))): Unit
        channel
      }
      .toVector
    println(all.size)
    while System.in.read() >= 0 do ()
    val buffer = ByteBuffer.allocate(100)
    for channel <- all do
      channel.configureBlocking(false): Unit
      val read = channel.read(buffer.clear())
      require(read == 0, s"a request that waits was answered, or its connection closed: $read")

  /** Connects, again if the server's queue of connections is full for the moment. */
  private def connected(to: InetSocketAddress, tries: Int = 1000): Option[SocketChannel] =
    try Some(SocketChannel.open(to))
    catch
      case _: ConnectException if tries > 0 =>
        Thread.sleep(1)
        connected(to, tries - 1)
      case _: IOException => None
