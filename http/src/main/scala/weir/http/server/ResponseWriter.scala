package weir.http.server

import java.io.IOException
import java.nio.ByteBuffer
import org.eclipse.jetty.http.{HttpHeader, HttpMethod}
import org.eclipse.jetty.server.Response as JettyResponse
import org.eclipse.jetty.util.Callback
import org.eclipse.jetty.util.thread.Invocable
import weir.Task
import weir.http.Response

/** Writes a response, each block once the one before it is on its way. */
private[server] final class ResponseWriter(out: JettyResponse, method: String):
  import ResponseWriter.*

  // owner only: the fiber that writes; then the code that runs at its end
  private var sent = 0L

  /** The number of bytes of the body that were passed to the connection. */
  def sentBytes: Long = sent

  /** Sends all of `response`. **Fails** with the error of its body, with an `IllegalStateException`
    * if the body has another length than it says, or with a [[ConnectionLost]].
    */
  def send(response: Response, isLast: Boolean): Task[Unit] =
    begin(response, isLast)
    val bytes = response.body.inMemory
    if isWithoutBody(response.status) then write(true, empty)
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

  /** Sends a response that has no stream, from code outside of any task, and then calls `ended`. */
  def sendAtOnce(response: Response, isLast: Boolean, ended: Callback): Unit =
    begin(response, isLast)
    val bytes = response.body.inMemory
    val content =
      if bytes == null || isWithoutBody(response.status) then empty else ByteBuffer.wrap(bytes)
    sent = content.remaining
    out.write(true, content, ended)

  private def begin(response: Response, isLast: Boolean): Unit =
    out.setStatus(response.status)
    val fields = out.getHeaders
    response.headers.toVector.foreach((name, value) => fields.add(name, value): Unit)
    if isLast then fields.put(HttpHeader.CONNECTION, "close"): Unit
    if response.status != 204 && response.status != 304 then
      response.body.length.foreach(length => fields.put(HttpHeader.CONTENT_LENGTH, length): Unit)

  private def isWithoutBody(status: Int): Boolean =
    HttpMethod.HEAD.is(method) || status == 204 || status == 304

  private def writeBlock(block: Array[Byte], from: Int, length: Long): Task[Unit] =
    val count = (block.length - from).min(blockLimitBytes)
    if count <= 0 then Task.unit
    else
      sent += count
      if sent > length then Task.fail(otherLength(length))
      else
        write(false, ByteBuffer.wrap(block, from, count).slice())
          .flatMap(_ => writeBlock(block, from + count, length))

  private def otherLength(length: Long): Throwable = IllegalStateException(
    s"Response: its body says that it has $length bytes, and has ${
        if sent > length then "more" else s"$sent"
      }. Name the right length, or none."
  )

  private def write(last: Boolean, content: ByteBuffer): Task[Unit] =
    Task.async(done => out.write(last, content, Written(done)))

private[server] object ResponseWriter:
  /** The JDK copies what it writes into memory outside of the heap, which each thread keeps. */
  private val blockLimitBytes = 65536

  private def empty: ByteBuffer = ByteBuffer.allocate(0)

  private final class Written(done: Either[Throwable, Unit] => Unit) extends Callback:
    override def succeeded(): Unit = done(Right(()))
    override def failed(error: Throwable): Unit = done(Left(ConnectionLost(error)))
    override def getInvocationType: Invocable.InvocationType =
      Invocable.InvocationType.NON_BLOCKING

/** Nothing more can be sent: the client has gone, or has not read for too long. */
private[server] final class ConnectionLost(cause: Throwable)
    extends IOException("The connection to the client is lost.", cause)
