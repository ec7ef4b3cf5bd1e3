package orders

import com.github.plokhotnyuk.jsoniter_scala.core.{
  JsonReaderException,
  JsonValueCodec,
  readFromArray,
  writeToArray
}
import java.io.IOException
import java.net.URI
import scala.concurrent.duration.*
import weir.http.{Body, Headers, HttpClient, HttpError, Request, Response}
import weir.json.JsonLines
import weir.otel.{Tracing, span}
import weir.{Stream, Task}

/** `POST /orders` takes an order, `GET /orders/7` shows it, and `GET /orders` all of them, as lines
  * of JSON. The worker tells the mailer of each order, at another server.
  */
final class Service(orders: Orders, client: HttpClient, mailer: URI):
  private given tracing: Tracing = Tracing.global("orders")

  def handle(request: Request): Task[Response] = (request.method, request.segments) match
    case ("POST", List("orders")) =>
      for
        body <- request.body.bytes(limitBytes = 10_000)
        order <- Task.fromEither(parsed[NewOrder](body))
        trace <- tracing.headers
        added <- orders.add(order, trace.toMap)
      yield Response.json(writeToArray(added), 201)
    case ("GET", List("orders", id)) =>
      for
        number <- Task.fromOption(id.toLongOption)(HttpError(400, s"$id is no number."))
        found <- orders.find(number)
        order <- Task.fromOption(found)(HttpError(404, s"There is no order $id."))
      yield Response.json(writeToArray(order))
    case ("GET", List("orders")) =>
      val lines = orders.all.through(JsonLines.encode[Order])
      Task.pure(Response.stream(lines, "application/x-ndjson"))
    case _ => Task.fail(HttpError(404, "There are orders here, and nothing else."))

  /** Sends mails until it is cancelled. A mail that fails is tried again by the queue. Its spans
    * are in the trace of the request that has ordered it.
    */
  def sendMails: Stream[Unit] =
    orders.mails.stream(parallelism = 16, lease = 30.seconds) { job =>
      tracing.continuing(job.payload.trace)(sendMail(job.payload.order).span("send mail"))
    }

  private def sendMail(id: Long): Task[Unit] =
    orders.find(id).flatMap {
      case None => Task.unit
      case Some(order) =>
        val request = Request(
          "PUT", // so that the client may try it again
          mailer.resolve(s"/mails/$id"),
          Headers("Content-Type" -> "application/json"),
          Body(writeToArray(order))
        )
        client.send(request).flatMap { response =>
          if response.isSuccess then orders.markMailed(id)
          else Task.fail(IOException(s"The mailer has answered with ${response.status}."))
        }
    }

  private def parsed[A: JsonValueCodec](json: Array[Byte]): Either[HttpError, A] =
    try Right(readFromArray[A](json))
    catch
      case error: JsonReaderException =>
        Left(HttpError(400, error.getMessage.linesIterator.next().stripSuffix(", buf:"), error))
