package weir.feeds.fetch

import java.io.{BufferedReader, InputStreamReader}
import java.net.{InetAddress, ServerSocket, Socket, URI}
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.concurrent.ConcurrentLinkedQueue
import scala.jdk.CollectionConverters.*
import scala.util.Using

import RawServer.Asked

/** A server on the loop-back interface that sends what a test gives it, byte by byte as it is. */
final class RawServer(
    answer: Asked => Array[Byte],
    at: InetAddress = InetAddress.getLoopbackAddress,
    asPort: Int = 0
) extends AutoCloseable:
  private val socket = ServerSocket(asPort, 50, at)
  private val log = ConcurrentLinkedQueue[Asked]()
  Thread.ofVirtual().start(() => accept())

  def port: Int = socket.getLocalPort

  /** The requests so far. */
  def asked: Vector[Asked] = log.asScala.toVector

  /** Leads every host here. */
  def address(logical: URI): URI =
    val query = Option(logical.getRawQuery).fold("")("?" + _)
    URI(s"http://127.0.0.1:$port${logical.getRawPath}$query")

  def close(): Unit = socket.close()

  private def accept(): Unit =
    try
      while true do
        val connection = socket.accept()
        Thread.ofVirtual().start(() => Using.resource(connection)(serve)): Unit
    catch case _: java.io.IOException => ()

  private def serve(connection: Socket): Unit =
    val in = BufferedReader(InputStreamReader(connection.getInputStream, ISO_8859_1))
    val lines = Iterator.continually(in.readLine()).takeWhile(line => line != null && line.nonEmpty)
    val request = Asked.of(lines.toVector)
    val _ = log.add(request)
    connection.getOutputStream.write(answer(request))

object RawServer:
  final case class Asked(target: String, headers: Map[String, String])

  object Asked:
    def of(lines: Vector[String]): Asked =
      val headers = lines.drop(1).map(_.split(": ", 2)).map(pair => pair(0).toLowerCase -> pair(1))
      Asked(lines.head.split(' ')(1), headers.toMap)

  /** An answer with `headers`, in UTF-8, and `body`. */
  def response(status: Int, headers: String*)(body: Array[Byte]): Array[Byte] =
    val lines = s"HTTP/1.1 $status x" +: "Connection: close" +: headers
    lines.mkString("", "\r\n", "\r\n\r\n").getBytes(UTF_8) ++ body

  def text(status: Int, headers: String*)(body: String): Array[Byte] =
    response(status, headers*)(body.getBytes(UTF_8))

  def redirect(status: Int, location: String, more: String*): Array[Byte] =
    text(status, s"Location: $location" +: "Content-Length: 0" +: more*)("")
