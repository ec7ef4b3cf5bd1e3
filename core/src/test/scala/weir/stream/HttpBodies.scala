package weir
package stream

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.net.http.{HttpClient, HttpRequest}
import java.net.{InetSocketAddress, URI}
import java.nio.ByteBuffer
import java.util.concurrent.Executors
import java.util.zip.CRC32
import scala.jdk.CollectionConverters.*

/** Sends `-Dmegabytes=…` through the JDK's HTTP client, as a body of a request and as one of a
  * response, both streams. Prints the bytes and the checksum at either end.
  */
object HttpBodies:
  private val megabytes = Integer.getInteger("megabytes", 50).intValue

  private val noise: Array[Byte] = Array.tabulate(1 << 20)(i => (i * 31 + (i >> 8)).toByte)

  /** A block of a megabyte, which differs from the others: the same bytes from another place on. */
  private def block(number: Int): Array[Byte] =
    val from = number * 1021 % noise.length
    val bytes = new Array[Byte](noise.length)
    System.arraycopy(noise, from, bytes, 0, noise.length - from)
    System.arraycopy(noise, 0, bytes, noise.length - from, from)
    bytes

  private final class Sum:
    private val crc = CRC32()
    private var bytes = 0L
    def add(buffer: ByteBuffer): Unit =
      bytes += buffer.remaining
      crc.update(buffer)
    override def toString: String = s"$bytes bytes, ${java.lang.Long.toHexString(crc.getValue)}"

  private def expected: String =
    val sum = Sum()
    for i <- 0 until megabytes do sum.add(ByteBuffer.wrap(block(i)))
    sum.toString

  private def download(exchange: HttpExchange): Unit =
    exchange.sendResponseHeaders(200, 0)
    val out = exchange.getResponseBody
    for i <- 0 until megabytes do out.write(block(i))
    out.close()

  /** Answers with the sum of the bytes that have come. */
  private def upload(exchange: HttpExchange): Unit =
    val sum = Sum()
    val in = exchange.getRequestBody
    val bytes = new Array[Byte](65536)
    var read = in.read(bytes)
    while read >= 0 do
      sum.add(ByteBuffer.wrap(bytes, 0, read))
      read = in.read(bytes)
    val answer = sum.toString.getBytes
    exchange.sendResponseHeaders(200, answer.length)
    exchange.getResponseBody.write(answer)
    exchange.close()

  def main(args: Array[String]): Unit =
    val server = HttpServer.create(InetSocketAddress("localhost", 0), 0)
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor())
    server.createContext("/download", download(_)): Unit
    server.createContext("/upload", upload(_)): Unit
    server.start()
    val client = HttpClient.newBuilder.version(HttpClient.Version.HTTP_1_1).build()
    def to(path: String) =
      HttpRequest.newBuilder(URI(s"http://localhost:${server.getAddress.getPort}$path"))

    val downloaded = Stream
      .eval(
        Task.fromCompletionStage(
          client.sendAsync(to("/download").build(), BodyHandlers.ofPublisher())
        )
      )
      .flatMap(response => Stream.fromPublisher(response.body, 4))
      .mapConcat(_.asScala)
      .fold(Sum()) { (sum, buffer) =>
        sum.add(buffer); sum
      }
      .runSync()
    println(s"downloaded $downloaded")

    val blocks = Stream.range(0, megabytes).map(i => ByteBuffer.wrap(block(i)))
    val request = to("/upload").POST(BodyPublishers.fromPublisher(blocks.toPublisher)).build()
    println(s"uploaded ${client.send(request, BodyHandlers.ofString()).body}")

    // A response that nobody reads to its end, and a request whose body fails.
    val head = Stream
      .eval(
        Task.fromCompletionStage(
          client.sendAsync(to("/download").build(), BodyHandlers.ofPublisher())
        )
      )
      .flatMap(response => Stream.fromPublisher(response.body, 4))
      .take(1)
      .count
      .runSync()
    val failing = blocks.take(2) ++ Stream.fail(IllegalStateException("no more blocks"))
    val wrong = to("/upload").POST(BodyPublishers.fromPublisher(failing.toPublisher)).build()
    val error = Task(client.send(wrong, BodyHandlers.ofString())).attempt.runSync().left.toOption
    val causes =
      Iterator.iterate[Throwable | Null](error.orNull)(_.nn.getCause).takeWhile(_ != null)
    println(s"taken $head; failed: ${causes.map(_.nn.getMessage).mkString(" <- ")}")
    println(s"expected $expected")
    System.exit(0)
