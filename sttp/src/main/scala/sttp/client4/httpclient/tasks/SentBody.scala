package sttp.client4.httpclient.tasks

import java.net.http.HttpRequest.BodyPublisher
import java.nio.ByteBuffer
import java.util.concurrent.Flow

/** The body of a request, which is sent until it is closed. The JDK's client leaves its run when a
  * server answers before it has read all, or when the exchange is cancelled after that.
  *
  *   - **Shared**, under this object's lock: all fields.
  */
private[tasks] final class SentBody(body: BodyPublisher) extends BodyPublisher:
  private var runs = List.empty[Flow.Subscription]
  private var isClosed = false

  def contentLength: Long = body.contentLength

  def subscribe(reader: Flow.Subscriber[? >: ByteBuffer]): Unit =
    body.subscribe(
      new Flow.Subscriber[ByteBuffer]:
        def onSubscribe(run: Flow.Subscription): Unit =
          reader.onSubscribe(run)
          if begins(run) then run.cancel()
        def onNext(bytes: ByteBuffer): Unit = reader.onNext(bytes)
        def onError(error: Throwable): Unit = reader.onError(error)
        def onComplete(): Unit = reader.onComplete()
    )

  /** Cancels the runs that have not ended. */
  def close(): Unit =
    val open = synchronized {
      isClosed = true
      val open = runs
      runs = Nil
      open
    }
    open.foreach(_.cancel())

  /** Returns true if the body is closed. */
  private def begins(run: Flow.Subscription): Boolean = synchronized {
    if !isClosed then runs = run :: runs
    isClosed
  }
