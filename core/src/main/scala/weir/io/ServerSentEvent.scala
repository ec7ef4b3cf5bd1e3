package weir
package io

import java.io.IOException
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import scala.concurrent.duration.{Duration, DurationLong, FiniteDuration}

/** A server-sent event: a part of a body of the type `text/event-stream`, which browsers read with
  * `EventSource`.
  *
  * @param data
  *   its text: any number of lines, separated by `\n`
  * @param event
  *   the type of the event; without one, browsers use `message`
  * @param id
  *   the latest one comes back as `Last-Event-ID` when a browser connects again
  * @param retry
  *   the time after which a browser whose connection has ended connects again, in whole
  *   milliseconds
  */
final case class ServerSentEvent(
    data: String,
    event: Option[String] = None,
    id: Option[String] = None,
    retry: Option[FiniteDuration] = None
):
  for (name, value) <- List("event" -> event, "id" -> id) do
    require(
      value.forall(!_.exists(c => c == '\n' || c == '\r')),
      s"ServerSentEvent: $name had the end of a line. Remove it: a field has one line."
    )
  require(
    id.forall(_.indexOf(0) < 0),
    "ServerSentEvent: id had a character 0. Remove it: readers pass over such an id."
  )
  require(
    retry.forall(_ >= Duration.Zero),
    s"ServerSentEvent: retry was ${retry.getOrElse(0)}. It must be at least 0."
  )

/** Events as bytes, by the
  * [standard of HTML](https://html.spec.whatwg.org/multipage/server-sent-events.html).
  */
object ServerSentEvent:

  /** Emits a block of bytes for each event.
    * {{{
    * val body: Stream[Array[Byte]] =
    *   Stream(ServerSentEvent("one"), ServerSentEvent("two")).through(ServerSentEvent.encode)
    * }}}
    */
  def encode: Stream[ServerSentEvent] => Stream[Array[Byte]] = _.map { event =>
    val text = StringBuilder()
    for name <- event.event do text ++= s"event: $name\n"
    for id <- event.id do text ++= s"id: $id\n"
    for time <- event.retry do text ++= s"retry: ${time.toMillis}\n"
    for line <- event.data.split("\r\n|\r|\n", -1) do text ++= s"data: $line\n"
    text ++= "\n"
    text.toString.getBytes(UTF_8)
  }

  /** Emits the events of a body. Each has the latest `id` that was received, as the standard
    * requires. Comments are left out, and so is an event that has no `data`, or that is incomplete
    * at the end of the body. Bytes that are not valid UTF-8 become `U+FFFD`. **Fails** with an
    * `IOException` at a line of more than 1,048,576 bytes, and at an event whose data has more
    * characters than that.
    * {{{
    * val events: Stream[ServerSentEvent] = Stream.fromPath(path).through(ServerSentEvent.decode)
    * }}}
    */
  def decode: Stream[Array[Byte]] => Stream[ServerSentEvent] = bytes =>
    Stream.suspend {
      val lines = EventLines(limitChars)
      // Each byte as a character: so no byte is an error before the lines are known.
      bytes
        .through(Text.decode(ISO_8859_1))
        .through(Text.linesOfAtMost(limitChars))
        .map(line => lines.add(String(line.getBytes(ISO_8859_1), UTF_8)))
        .unNone
    }

  private val limitChars = 1 << 20

/** The lines of an event that has not ended. */
private final class EventLines(limitChars: Int):
  private val data = StringBuilder()
  private var event = Option.empty[String]
  private var id = Option.empty[String]
  private var retry = Option.empty[FiniteDuration]
  private var isFirst = true

  /** Adds a line. Returns the event that it ends. */
  def add(line: String): Option[ServerSentEvent] =
    val text = if isFirst then line.stripPrefix("\uFEFF") else line
    isFirst = false
    if text.isEmpty then ended()
    else
      text.indexOf(':') match
        case -1 => field(text, "")
        case at => field(text.take(at), text.drop(at + 1).stripPrefix(" "))
      None

  private def field(name: String, value: String): Unit = name match
    case "data" =>
      if value.length >= limitChars - data.length then
        throw IOException(s"ServerSentEvent.decode: an event has more than $limitChars characters.")
      data ++= value
      data += '\n'
    case "event" => event = Some(value).filter(_.nonEmpty)
    case "id" if value.indexOf(0) < 0 => id = Some(value).filter(_.nonEmpty)
    case "retry" if value.matches("[0-9]{1,15}") => retry = Some(value.toLong.millis)
    case _ => ()

  private def ended(): Option[ServerSentEvent] =
    val whole = Option.when(data.nonEmpty)(
      ServerSentEvent(data.substring(0, data.length - 1), event, id, retry)
    )
    if data.nonEmpty then retry = None
    data.clear()
    event = None
    whole
