package guestbook

import com.comcast.ip4s.{Port, ipv4}
import java.nio.file.{Files, Path}
import org.http4s.client.Client
import org.http4s.ember.client.EmberClientBuilder
import org.http4s.ember.server.EmberServerBuilder
import org.http4s.{Method, Request, Status, Uri}
import weir.interop.cats.given
import weir.interop.fs2.given
import weir.{ExitCode, Task, WeirApp}

/** `run PORT FILE` serves the guest book in FILE until Ctrl-C. Without arguments a hundred guests
  * write into a new book at the same time, by this JVM's own client.
  */
object Main extends WeirApp:
  def run(args: List[String]): Task[ExitCode] = args match
    case List(port, file) =>
      port.toIntOption.flatMap(Port.fromInt) match
        case Some(port) => serve(port, Path.of(file))
        case None => Task(println(s"'$port' is no port: 0 to 65535.")).as(ExitCode(2))
    case Nil => Task(Files.createTempDirectory("guests").resolve("book")).flatMap(hundredGuests)
    case _ => Task(println("Give a port and a file, or nothing.")).as(ExitCode(2))

  private def server(port: Port, file: Path) =
    Book.open(file).map { book =>
      EmberServerBuilder
        .default[Task]
        .withHost(ipv4"127.0.0.1")
        .withPort(port)
        .withHttpApp(Service(book))
        .build
    }

  private def serve(port: Port, file: Path): Task[ExitCode] = server(port, file).flatMap {
    _.use(running => Task(println(s"${running.baseUri}entries")).andThen(Task.never))
  }

  private def hundredGuests(file: Path): Task[ExitCode] =
    server(Port.fromInt(0).get, file).flatMap {
      _.use { running =>
        EmberClientBuilder.default[Task].withMaxTotal(16).build.use(write(_, running.baseUri))
      }
    }

  private def write(client: Client[Task], service: Uri): Task[ExitCode] =
    val guests = (1 to 100).toList
    def entry(guest: Int) = Request[Task](Method.POST, service / "entries" / s"guest $guest")
      .withEntity(s"Hello from $guest")
    for
      created <- Task.parTraverseN(16)(guests)(guest => client.status(entry(guest)))
      text <- client.expect[String]((service / "entries").withQueryParam("limit", 100))
      refused <- client.statusFromUri((service / "entries").withQueryParam("limit", 0))
      lines = text.linesIterator.toList
      _ <- Task(println(s"${lines.size} entries; the newest is '${lines.head}'"))
      written = guests.forall(n => lines.exists(_.endsWith(s" guest $n: Hello from $n")))
      isRight = written && created.forall(_ == Status.Created) && refused == Status.BadRequest
    yield if isRight then ExitCode.Success else ExitCode(1)
