package sttp.client4.httpclient.tasks

import java.io.IOException
import java.util.concurrent.atomic.AtomicBoolean
import sttp.capabilities.{Effect, WebSockets}
import sttp.client4.*
import sttp.client4.wrappers.DelegateBackend
import weir.interop.sttp.WeirStreams
import weir.{Stream, Task}

/** Fails where a redirect would send a stream again: it may be one that has no more bytes. */
private[tasks] final class SendsOnce(others: WebSocketStreamBackend[Task, WeirStreams])
    extends DelegateBackend[Task, WeirStreams & WebSockets](others)
    with WebSocketStreamBackend[Task, WeirStreams]:

  private type Needs = WeirStreams & WebSockets & Effect[Task]

  def send[T](request: GenericRequest[T, Needs]): Task[Response[T]] = request.body match
    case StreamBody(blocks) if request.isInstanceOf[StreamRequest[?, ?]] =>
      val streamed = request.asInstanceOf[StreamRequest[T, Needs]]
      Task.defer { // each run of the task sends the stream
        val body = StreamBody(WeirStreams)(once(blocks.asInstanceOf[Stream[Array[Byte]]]))
        others.send(streamed.copy[T, Needs](body = body))
      }
    case _ => others.send(request)

  private def once(blocks: Stream[Array[Byte]]): Stream[Array[Byte]] =
    val isSent = AtomicBoolean()
    Stream
      .eval(Task.defer {
        if isSent.getAndSet(true) then Task.fail(IOException(SendsOnce.cannotRepeat))
        else Task.unit
      })
      .flatMap(_ => blocks)

private object SendsOnce:
  val cannotRepeat: String =
    "The body of the request was sent, and cannot be sent again after a redirect. Send the " +
      "request to the new address, or send a file or bytes, which can be sent again."
