package weir.http.client

import java.io.IOException
import java.net.http.HttpTimeoutException
import java.nio.ByteBuffer
import java.util.concurrent.Flow
import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters.*
import weir.http.Body
import weir.{Stream, Task}

/** Receives the body of a response, a signal for each time that its reader asks.
  *
  *   - **Shared**, under this object's lock: all fields.
  *   - **Invariant**: at most one signal is requested and has not come.
  */
private[client] final class ResponseBody extends Flow.Subscriber[java.util.List[ByteBuffer]]:
  private var subscription: Flow.Subscription | Null = null

  /** Blocks that have come and were not read. */
  private var blocks: List[Array[Byte]] = Nil
  private var ending: Either[Throwable, Unit] | Null = null
  private var waiting: (Either[Throwable, Unit] => Unit) | Null = null
  private var isRequested = false
  private var isRead = false
  private var isClosed = false

  /** Emits the blocks that have not been read. **Fails** with an `HttpTimeoutException` that names
    * the exchange, if a block takes longer than `idle`.
    */
  def stream(idle: FiniteDuration, name: String): Stream[Array[Byte]] =
    val tooLate = Task.defer(
      Task.fail(HttpTimeoutException(s"$name: no byte of the body within $idle."))
    )
    Stream.repeatEvalOption(Task.defer(next()).timeoutTo(idle, tooLate))

  /** Ends the exchange, if it has not ended. */
  def close(): Unit =
    val open = synchronized {
      isClosed = true
      blocks = Nil
      if ending != null then null
      else
        ending = Right(())
        subscription
    }
    arrive(()) // a wait ends too
    if open != null then open.cancel()

  private def next(): Task[Option[Array[Byte]]] = synchronized {
    blocks match
      case _ if isRead => Task.fail(Body.readTwice)
      case _ if isClosed =>
        Task.fail(IOException("The use of the response has ended. Read its body within it."))
      case block :: rest =>
        blocks = rest
        Task.pure(Some(block))
      case Nil =>
        ending match
          case null => Task.async(demand).flatMap(_ => next())
          case Right(_) =>
            isRead = true
            Task.pure(None)
          case Left(error) => Task.fail(error)
  }

  /** Calls `ready` once there is a block or the end. A signal that a cancelled wait has requested
    * is for the next wait.
    */
  private def demand(ready: Either[Throwable, Unit] => Unit): Unit =
    val (isThere, asked) = synchronized {
      val there = blocks.nonEmpty || ending != null
      if !there then waiting = ready
      (there, if there then null else request())
    }
    if isThere then ready(Right(()))
    if asked != null then asked.request(1)

  /** Returns the subscription if a signal is to be requested. */
  private def request(): Flow.Subscription | Null =
    val asked = subscription
    if asked == null || isRequested then null
    else
      isRequested = true
      asked

  def onSubscribe(offered: Flow.Subscription): Unit =
    val (isOver, asked) = synchronized {
      subscription = offered
      (isClosed, if isClosed || waiting == null then null else request())
    }
    if isOver then offered.cancel()
    if asked != null then asked.request(1)

  def onNext(buffers: java.util.List[ByteBuffer]): Unit =
    val copies = buffers.asScala.iterator
      .map { buffer =>
        val bytes = Array.ofDim[Byte](buffer.remaining)
        buffer.get(bytes): Unit
        bytes
      }
      .filter(_.nonEmpty)
      .toList
    arrive {
      isRequested = false
      if !isClosed then blocks = blocks ++ copies
    }

  def onError(error: Throwable): Unit = arrive { if ending == null then ending = Left(error) }

  def onComplete(): Unit = arrive { if ending == null then ending = Right(()) }

  private def arrive(change: => Unit): Unit =
    val ready = synchronized {
      change
      val present = waiting
      waiting = null
      present
    }
    if ready != null then ready(Right(()))
