package weir.interop.sttp

import _root_.sttp.model.sse.ServerSentEvent
import scala.concurrent.duration.DurationInt
import weir.Stream
import weir.io.ServerSentEvent as Event

/** Converts between sttp's and tapir's server-sent events and streams of bytes, as
  * `weir.io.ServerSentEvent` does.
  */
object WeirServerSentEvents:

  /** Emits the events of a body of type `text/event-stream`. **Fails** as
    * `weir.io.ServerSentEvent.decode`.
    * {{{
    * val request = basicRequest
    *   .get(uri"https://example.org/events")
    *   .response(
    *     asStreamAlways(WeirStreams)(
    *       _.through(WeirServerSentEvents.parse).evalForeach(event => Task(println(event.data)))
    *     )
    *   )
    * }}}
    */
  def parse: Stream[Array[Byte]] => Stream[ServerSentEvent] =
    _.through(Event.decode).map(event =>
      ServerSentEvent(
        Some(event.data),
        event.event,
        event.id,
        event.retry.map(_.toMillis.min(Int.MaxValue).toInt)
      )
    )

  /** Emits a block of bytes for each event. **Fails** with an `IllegalArgumentException` at one
    * that has the end of a line in its type or `id`, or a negative `retry`.
    */
  def write: Stream[ServerSentEvent] => Stream[Array[Byte]] =
    _.map(toEvent).through(Event.encode)

  /** Returns an event of sttp's model as one of Weir's. **Fails** as `write`. */
  def toEvent(event: ServerSentEvent): Event =
    Event(event.data.getOrElse(""), event.eventType, event.id, event.retry.map(_.millis))
