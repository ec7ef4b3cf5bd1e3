package weir.http.server

import java.util.concurrent.TimeoutException
import org.eclipse.jetty.http.HttpHeader
import org.eclipse.jetty.io.Content
import org.eclipse.jetty.server.Request as JettyRequest
import org.eclipse.jetty.util.thread.Invocable
import weir.http.{Body, BodyTooLarge, HttpError}
import weir.{Stream, Task}

/** Reads the body of a request, a block for each time that the handler asks. */
private[server] final class RequestBody(
    in: JettyRequest,
    limitBytes: Long,
    onBroken: () => Unit
):

  // owner only: the fiber that reads
  private var readBytes = 0L
  private var isRead = false

  // shared, under this object's lock
  private var waiting: (Either[Throwable, Unit] => Unit) | Null = null
  private var isDemanded = false

  /** True once the handler may not read any more. */
  @volatile private var isEnded = false

  /** True if the request has a body. */
  val isThere: Boolean = in.getLength match
    case -1 => in.getHeaders.contains(HttpHeader.TRANSFER_ENCODING)
    case length => length > 0

  /** The blocks that have not been read. */
  def stream: Stream[Array[Byte]] = Stream.repeatEvalOption(Task.defer(next()))

  /** Returns true while the handler waits for bytes that the client has not sent. */
  def isWaiting: Boolean = synchronized(waiting != null)

  /** Fails the reads from now on, and one that waits. */
  def end(): Unit =
    isEnded = true
    wake()

  private def next(): Task[Option[Array[Byte]]] =
    if isRead then Task.fail(Body.readTwice)
    else if isEnded then Task.fail(hasEnded)
    else
      val chunk = in.read()
      // If the request has ended meanwhile, this may come after bytes that were left out.
      if !isEnded then read(chunk)
      else
        if chunk != null then chunk.release(): Unit
        Task.fail(hasEnded)

  private def hasEnded: Throwable = IllegalStateException(
    "The request has ended, so its body can no longer be read. Read it before the handler returns."
  )

  private def read(chunk: Content.Chunk | Null): Task[Option[Array[Byte]]] = chunk match
    case null =>
      Task.async(demand).onCancel(Task.delay(synchronized { waiting = null })).flatMap(_ => next())
    case chunk if Content.Chunk.isFailure(chunk) => failed(chunk.getFailure)
    case chunk =>
      val block = Array.ofDim[Byte](chunk.remaining)
      chunk.get(block, 0, block.length): Unit
      chunk.release(): Unit
      readBytes += block.length
      if readBytes > limitBytes then Task.fail(BodyTooLarge(limitBytes))
      else if block.nonEmpty then Task.pure(Some(block))
      else if chunk.isLast then
        isRead = true
        Task.pure(None)
      else next()

  /** Calls `ready` when there is something to read. Jetty has one demand at a time: that of a wait
    * that was cancelled is taken over by the next one.
    */
  private def demand(ready: Either[Throwable, Unit] => Unit): Unit =
    val isFirst = synchronized {
      waiting = ready
      val first = !isDemanded && !isEnded
      isDemanded = true
      first
    }
    if isFirst then in.demand(OnAvailable)
    else if isEnded then wake()

  private def wake(): Unit =
    val ready = synchronized {
      isDemanded = false
      val present = waiting
      waiting = null
      present
    }
    if ready != null then ready(Right(()))

  private object OnAvailable extends Invocable.Task:
    override def getInvocationType: Invocable.InvocationType =
      Invocable.InvocationType.NON_BLOCKING

    override def run(): Unit = wake()

  /** Fails if the client is too slow, or if what comes is no HTTP. If the connection is broken,
    * nobody can be answered: then the request is cancelled. Only code that is masked sees the
    * failure.
    */
  private def failed(failure: Throwable): Task[Nothing] = failure match
    case error: TimeoutException =>
      Task.fail(HttpError(408, "The body did not arrive in time.", error))
    case error if isConnected => Task.fail(HttpError(400, "The body is not well formed.", error))
    case _ =>
      Task.defer {
        onBroken()
        Task.canceled >> Task.fail(ConnectionLost(failure))
      }

  /** Returns true if the client has not closed the connection. Jetty's failure does not tell: that
    * of what is no HTTP is an early end too.
    */
  private def isConnected: Boolean =
    val endPoint = in.getConnectionMetaData.getConnection.getEndPoint
    endPoint.isOpen && !endPoint.isInputShutdown
