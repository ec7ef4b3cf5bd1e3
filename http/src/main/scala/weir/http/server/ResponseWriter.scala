package weir.http.server

import java.io.IOException
import java.nio.ByteBuffer
import java.util.EnumSet
import java.util.concurrent.TimeoutException
import org.eclipse.jetty.http.{HttpHeader, HttpMethod}
import org.eclipse.jetty.server.Response as JettyResponse
import org.eclipse.jetty.util.Callback
import org.eclipse.jetty.util.thread.Invocable
import weir.Task
import weir.http.Response

/** Writes a response, each block once the one before it is on its way.
  *
  * @param onLast
  *   is called before the last byte of the response is passed to the connection, maybe repeatedly
  */
private[server] final class ResponseWriter(
    out: JettyResponse,
    method: String,
    onLast: () => Unit = () => ()
):
  import ResponseWriter.*

  // owner only: the fiber that writes; then the code that runs at its end
  private var sent = 0L

  /** The number of bytes of the body that were passed to the connection. */
  def sentBytes: Long = sent

  /** Sends all of `response`. **Fails** with the error of its body, with an `IllegalStateException`
    * if the body has another length than it says, or with a [[ConnectionLost]]. An empty block
    * sends the header fields, if nothing was sent before.
    */
  def send(response: Response, isLast: Boolean): Task[Unit] =
    begin(response, isLast)
    val bytes = response.body.inMemory
    if isWithoutBody(response.status) then writeHead(response)
    else if bytes != null && bytes.length <= blockLimitBytes then
      sent = bytes.length
      write(true, ByteBuffer.wrap(bytes))
    else
      val length = response.body.length.getOrElse(Long.MaxValue)
      response.body.stream
        .evalMap(writeBlock(_, 0, length))
        .drain
        .flatMap(_ =>
          if response.body.length.exists(_ != sent) then Task.fail(otherLength(length))
          else write(true, empty)
        )

  /** Takes back a response of which nothing was sent. */
  def reset(): Unit = out.reset()

  /** Sends a response that has no stream, from code outside of any task, and then calls `ended`. */
  def sendAtOnce(response: Response, isLast: Boolean, ended: Callback): Unit =
    begin(response, isLast)
    val bytes = response.body.inMemory
    val content =
      if bytes == null || isWithoutBody(response.status) then empty else ByteBuffer.wrap(bytes)
    sent = content.remaining
    onLast()
    out.write(true, content, ended)

  private def begin(response: Response, isLast: Boolean): Unit =
    sent = 0
    out.setStatus(response.status)
    val fields = out.getHeaders
    var closes = isLast
    response.headers.toVector.foreach { (name, value) =>
      val known = HttpHeader.CACHE.get(name)
      if !ofServer.contains(known) then fields.add(name, value): Unit
      else if known == HttpHeader.CONNECTION && value.equalsIgnoreCase("close") then closes = true
    }
    if closes then fields.put(HttpHeader.CONNECTION, "close"): Unit
    if !isBare(response.status) then
      response.body.length.foreach(length => fields.put(HttpHeader.CONTENT_LENGTH, length): Unit)

  private def isWithoutBody(status: Int): Boolean = HttpMethod.HEAD.is(method) || isBare(status)

  /** Sends a response without its body. */
  private def writeHead(response: Response): Task[Unit] =
    if isBare(response.status) || response.body.length.isDefined then write(true, empty)
    else
      // Jetty would take a single write for a body of 0 bytes, and would send that length.
      onLast()
      write(false, empty).flatMap(_ => write(true, empty))

  private def writeBlock(block: Array[Byte], from: Int, length: Long): Task[Unit] =
    val count = (block.length - from).min(blockLimitBytes)
    if count <= 0 then if block.isEmpty && !out.isCommitted then write(false, empty) else Task.unit
    else
      sent += count
      if sent > length then Task.fail(otherLength(length))
      else
        if sent == length then onLast()
        write(false, ByteBuffer.wrap(block, from, count).slice())
          .flatMap(_ => writeBlock(block, from + count, length))

  private def otherLength(length: Long): Throwable = IllegalStateException(
    s"Response: its body says that it has $length bytes, and has ${
        if sent > length then "more" else s"$sent"
      }. Name the right length, or none."
  )

  private def write(last: Boolean, content: ByteBuffer): Task[Unit] =
    if last then onLast()
    Task.async(done => out.write(last, content, Written(done)))

private[server] object ResponseWriter:
  /** The JDK copies what it writes into memory outside of the heap, which each thread keeps. */
  private val blockLimitBytes = 65536

  /** The fields that the server sets by itself. */
  private val ofServer = EnumSet.of(
    HttpHeader.CONTENT_LENGTH,
    HttpHeader.TRANSFER_ENCODING,
    HttpHeader.CONNECTION,
    HttpHeader.KEEP_ALIVE,
    HttpHeader.UPGRADE
  )

  /** Returns true if a response to any request has no body. */
  private def isBare(status: Int): Boolean = status == 204 || status == 205 || status == 304

  private def empty: ByteBuffer = ByteBuffer.allocate(0)

  private final class Written(done: Either[Throwable, Unit] => Unit) extends Callback:
    override def succeeded(): Unit = done(Right(()))
    override def failed(error: Throwable): Unit = done(Left(error match
      case _: IOException | _: TimeoutException => ConnectionLost(error)
      case error => error))
    override def getInvocationType: Invocable.InvocationType =
      Invocable.InvocationType.NON_BLOCKING

/** Nothing more can be sent: the client has gone, or has not read for too long. */
private[server] final class ConnectionLost(cause: Throwable)
    extends IOException("The connection to the client is lost.", cause)
