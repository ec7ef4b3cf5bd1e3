package weir.http.server

import java.io.IOException
import java.nio.ByteBuffer
import java.util.EnumSet
import java.util.concurrent.TimeoutException
import org.eclipse.jetty.http.{HttpField, HttpHeader, HttpMethod}
import org.eclipse.jetty.server.Response as JettyResponse
import org.eclipse.jetty.util.{BufferUtil, Callback}
import org.eclipse.jetty.util.thread.Invocable
import weir.Task
import weir.http.{Body, Headers, Response}

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

  /** The last bytes, which `finish` sends. */
  private var rest = BufferUtil.EMPTY_BUFFER

  /** The number of bytes of the body that were passed to the connection. */
  def sentBytes: Long = sent

  /** Sends `response` except for its end, which `finish` sends: of a body in memory that is small,
    * nothing. **Fails** with the error of the body, with an `IllegalStateException` if the body has
    * another length than it says, or with a [[ConnectionLost]]. An empty block sends the header
    * fields, if nothing was sent before.
    */
  def send(response: Response, isLast: Boolean): Task[Unit] =
    begin(response, isLast)
    if isSmall(response.body) || isBare(response.status) then Task.unit
    else if HttpMethod.HEAD.is(method) then
      // Jetty would take a single write for a body of 0 bytes, and would send that length.
      if response.body.length.isDefined then Task.unit else write(BufferUtil.EMPTY_BUFFER)
    else
      val length = response.body.length.getOrElse(Long.MaxValue)
      response.body.stream
        .evalMap(writeBlock(_, 0, length))
        .drain
        .flatMap(_ =>
          if response.body.length.exists(_ != sent) then Task.fail(otherLength(length))
          else Task.unit
        )

  /** Takes back a response of which nothing was sent. */
  def reset(): Unit = out.reset()

  /** Sends a response whose body is small and in memory, and then calls `ended`. */
  def sendAtOnce(response: Response, isLast: Boolean, ended: Callback): Unit =
    begin(response, isLast)
    finish(ended)

  /** Sends the end of the response, and then calls `ended`. */
  def finish(ended: Callback): Unit =
    onLast()
    out.write(true, rest, ended)

  /** Prepares the header fields of `response`, and its body if that is small and in memory. */
  def begin(response: Response, isLast: Boolean): Unit =
    out.setStatus(response.status)
    val fields = out.getHeaders
    val own = PreparedFields.of(response.headers)
    var index = 0
    while index < own.fields.length do
      fields.add(own.fields(index)): Unit
      index += 1
    if isLast || own.closes then fields.put(HttpHeader.CONNECTION, "close"): Unit
    if !isBare(response.status) then
      response.body.length match
        case Some(length) => fields.put(HttpHeader.CONTENT_LENGTH, length): Unit
        case None => ()
    val hasBody = isSmall(response.body) && !isBare(response.status) && !HttpMethod.HEAD.is(method)
    rest = if hasBody then ByteBuffer.wrap(response.body.inMemory) else BufferUtil.EMPTY_BUFFER
    sent = rest.remaining

  private def writeBlock(block: Array[Byte], from: Int, length: Long): Task[Unit] =
    val count = (block.length - from).min(blockLimitBytes)
    if count <= 0 then
      if block.isEmpty && !out.isCommitted then write(BufferUtil.EMPTY_BUFFER) else Task.unit
    else
      sent += count
      if sent > length then Task.fail(otherLength(length))
      else
        if sent == length then onLast()
        write(ByteBuffer.wrap(block, from, count).slice())
          .flatMap(_ => writeBlock(block, from + count, length))

  private def otherLength(length: Long): Throwable = IllegalStateException(
    s"Response: its body says that it has $length bytes, and has ${
        if sent > length then "more" else s"$sent"
      }. Name the right length, or none."
  )

  private def write(content: ByteBuffer): Task[Unit] =
    Task.async(done => out.write(false, content, Written(done)))

private[server] object ResponseWriter:
  /** The JDK copies what it writes into memory outside of the heap, which each thread keeps. */
  private val blockLimitBytes = 65536

  /** Returns true if a response to any request has no body. */
  private def isBare(status: Int): Boolean = status == 204 || status == 205 || status == 304

  /** Returns true if `body` is in memory and may be written at once. */
  private def isSmall(body: Body): Boolean =
    val bytes = body.inMemory
    bytes != null && bytes.length <= blockLimitBytes

  private final class Written(done: Either[Throwable, Unit] => Unit) extends Callback:
    override def succeeded(): Unit = done(Right(()))
    override def failed(error: Throwable): Unit = done(Left(ConnectionLost.orElse(error)))
    override def getInvocationType: Invocable.InvocationType =
      Invocable.InvocationType.NON_BLOCKING

/** Nothing more can be sent: the client has gone, or has not read for too long. */
private[server] final class ConnectionLost(cause: Throwable)
    extends IOException("The connection to the client is lost.", cause)

private[server] object ConnectionLost:
  /** Returns the error of a write: one of the connection, or another one. */
  def orElse(error: Throwable): Throwable = error match
    case _: IOException | _: TimeoutException => ConnectionLost(error)
    case error => error

/** The header fields of a response as Jetty sends them, without those that the server sets.
  *
  * @param closes
  *   true if the connection ends with the response
  */
private final class PreparedFields(val fields: Array[HttpField], val closes: Boolean)

private object PreparedFields:
  /** The fields that the server sets by itself. */
  private val ofServer = EnumSet.of(
    HttpHeader.CONTENT_LENGTH,
    HttpHeader.TRANSFER_ENCODING,
    HttpHeader.CONNECTION,
    HttpHeader.KEEP_ALIVE,
    HttpHeader.UPGRADE
  )

  def of(headers: Headers): PreparedFields = headers.prepared match
    case prepared: PreparedFields => prepared
    case _ =>
      val all = headers.toVector.map(HttpField(_, _))
      val prepared = PreparedFields(
        all.filterNot(field => ofServer.contains(field.getHeader)).toArray,
        all.exists(f =>
          f.getHeader == HttpHeader.CONNECTION && f.getValue.equalsIgnoreCase("close")
        )
      )
      headers.prepared = prepared
      prepared
