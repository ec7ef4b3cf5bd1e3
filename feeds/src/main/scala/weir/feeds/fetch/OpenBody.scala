package weir.feeds.fetch

import java.io.InputStream
import java.net.http.HttpResponse.{BodyHandler, BodySubscriber, BodySubscribers, ResponseInfo}

/** The body of one response, to be closed by the caller, even if the caller never got the response.
  *
  * `HttpClient.send` gives up the exchange when its thread is interrupted. If the interrupt comes
  * just as the headers arrive, the exchange is over for the client, and the response is dropped.
  * Its body is never closed, so its connection stays open, and a server that goes on sending does
  * so for ever.
  */
private[fetch] final class OpenBody extends BodyHandler[InputStream], AutoCloseable:
  // guarded by this: the client may come with the headers after the end
  private var body: Option[InputStream] = None
  private var isClosed = false

  def apply(info: ResponseInfo): BodySubscriber[InputStream] =
    val subscriber = BodySubscribers.ofInputStream()
    val stream = subscriber.getBody.toCompletableFuture.join() // there from the start
    val isLate = synchronized:
      body = Some(stream)
      isClosed
    if isLate then stream.close()
    subscriber

  /** Closes the connection, unless the body has been read whole; a response that comes later is
    * closed at once.
    */
  def close(): Unit =
    val open = synchronized:
      isClosed = true
      body
    open.foreach(_.close())
