package guestbook

import org.http4s.dsl.Http4sDsl
import org.http4s.{HttpApp, HttpRoutes}
import scala.concurrent.duration.*
import weir.Task
import weir.interop.cats.given

/** `GET /entries?limit=20`, and `POST /entries/NAME` with the text as the body. */
object Service extends Http4sDsl[Task]:
  private object Limit extends OptionalQueryParamDecoderMatcher[Int]("limit")
  private val longest = 1000

  def apply(book: Book): HttpApp[Task] =
    HttpRoutes
      .of[Task] {
        case GET -> Root / "entries" :? Limit(limit) =>
          if limit.exists(n => n < 1 || n > 100) then BadRequest("limit: 1 to 100.\n")
          else
            book
              .newest(limit.getOrElse(20))
              .timeout(5.seconds)
              .flatMap(entries => Ok(entries.map(e => s"${e.id} ${e.name}: ${e.text}\n").mkString))
        case request @ POST -> Root / "entries" / name =>
          request.as[String].flatMap {
            case text if text.length > longest => BadRequest(s"At most $longest characters.\n")
            case text => book.add(name, text).flatMap(id => Created(s"$id\n"))
          }
      }
      .orNotFound
