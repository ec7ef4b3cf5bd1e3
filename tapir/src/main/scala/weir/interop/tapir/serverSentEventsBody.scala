package weir.interop.tapir

import _root_.sttp.model.sse.ServerSentEvent
import _root_.sttp.tapir.{CodecFormat, StreamBodyIO, streamTextBody}
import java.nio.charset.StandardCharsets.UTF_8
import weir.Stream
import weir.http.Response
import weir.interop.sttp.{WeirServerSentEvents, WeirStreams}

/** The body of a response that sends events, each as soon as the stream emits it, and the header
  * fields before the first one. Comments keep the connection open, as with `Response.events` of
  * weir-http. `TapirServer` also adds the fields `Cache-Control` and `X-Accel-Buffering` of
  * `Response.events`, unless the endpoint has such a field itself.
  * {{{
  * val prices = endpoint.get.in("prices").out(serverSentEventsBody)
  * val served = prices.serverLogicSuccess[Task](_ =>
  *   Task.pure(latest.map(price => ServerSentEvent(data = Some(price.toString))))
  * )
  * }}}
  */
val serverSentEventsBody: StreamBodyIO[Stream[Array[Byte]], Stream[ServerSentEvent], WeirStreams] =
  streamTextBody(WeirStreams)(CodecFormat.TextEventStream(), Some(UTF_8))
    .map(WeirServerSentEvents.parse)(events =>
      Response.events(events.map(WeirServerSentEvents.toEvent)).body.stream
    )
