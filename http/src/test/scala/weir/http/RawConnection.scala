package weir.http

import java.io.{BufferedInputStream, ByteArrayOutputStream, EOFException}
import java.net.{InetAddress, Socket}
import java.nio.charset.StandardCharsets.ISO_8859_1
import javax.net.ssl.SSLContext

/** A connection to a server on this machine, over which tests send what they like; encrypted, if
  * there is a context.
  */
final class RawConnection(
    port: Int,
    receiveBufferBytes: Int = 0,
    context: Option[SSLContext] = None
) extends AutoCloseable:
  private val socket = Socket()
  if receiveBufferBytes > 0 then socket.setReceiveBufferSize(receiveBufferBytes)
  socket.setSoTimeout(10_000)
  socket.connect(java.net.InetSocketAddress(InetAddress.getLoopbackAddress, port))
  private val secured = context.fold(socket)(
    _.getSocketFactory.createSocket(socket, "localhost", port, /* autoClose = */ true)
  )
  private val in = BufferedInputStream(secured.getInputStream)

  /** Sends `text`, whose lines end with `\n` here and with `\r\n` there. */
  def send(text: String): Unit = sendBytes(text.replace("\n", "\r\n").getBytes(ISO_8859_1))

  def sendBytes(bytes: Array[Byte]): Unit =
    secured.getOutputStream.write(bytes)
    secured.getOutputStream.flush()

  def get(path: String): RawResponse =
    send(s"GET $path HTTP/1.1\nHost: localhost\n\n")
    response()

  /** Reads a response whose body has a length or is chunked. */
  def response(toHead: Boolean = false): RawResponse =
    val (status, headers) = head()
    val body =
      if toHead || status == 204 || status == 304 || status < 200 then Array.emptyByteArray
      else if headers.get("transfer-encoding").contains("chunked") then chunks()
      else read(headers("content-length").toInt)
    RawResponse(status, headers, String(body, ISO_8859_1))

  /** Reads a status line and header fields. */
  def head(): (Int, Map[String, String]) =
    val status = line().split(' ')(1).toInt
    val fields = Iterator
      .continually(line())
      .takeWhile(_.nonEmpty)
      .map { case s"$name: $value" => name.toLowerCase -> value }
      .toMap
    (status, fields)

  def read(count: Int): Array[Byte] =
    val bytes = in.readNBytes(count)
    if bytes.length < count then throw EOFException(s"${bytes.length} bytes of $count")
    bytes

  /** Reads a chunk, or "" for the last one. The end of a chunk's line may come with the next one.
    */
  def chunk(): String =
    if !isFirstChunk then line(): Unit
    val size = Integer.parseInt(line(), 16)
    isFirstChunk = size == 0
    if size == 0 then line(): Unit
    String(read(size), ISO_8859_1)

  private var isFirstChunk = true

  private def chunks(): Array[Byte] =
    Iterator.continually(chunk()).takeWhile(_.nonEmpty).mkString.getBytes(ISO_8859_1)

  private def line(): String =
    val text = ByteArrayOutputStream()
    var byte = in.read()
    while byte != '\n' do
      if byte < 0 then throw EOFException(s"the end after '$text'")
      text.write(byte)
      byte = in.read()
    text.toString(ISO_8859_1).stripSuffix("\r")

  /** Returns true if the server ends the connection, in an orderly way or by an RST. */
  def ends(): Boolean =
    try
      while in.read() >= 0 do ()
      true
    catch case _: java.net.SocketException => true

  /** Returns true if the server ends the connection in an orderly way. */
  def endsOrderly(): Boolean =
    try in.read() < 0
    catch case _: java.net.SocketException => false

  def endOfOutput(): Unit = socket.shutdownOutput()

  def close(): Unit = secured.close()

final case class RawResponse(status: Int, headers: Map[String, String], body: String)
