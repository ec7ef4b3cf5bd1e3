package orders

import com.zaxxer.hikari.HikariDataSource
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.io.IOException
import java.net.{ConnectException, URI}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*
import weir.http.{Body, ClientSettings, HttpClient, HttpServer}
import weir.http.{Request, Response, ServerSettings}
import weir.{ExitCode, Resource, Schedule, Stream, Task, WeirApp}

/** `run PORT JDBC_URL MAILER_URL` serves until SIGTERM, and then drains. Without arguments it
  * starts a database and a mailer of its own, sends 200 orders a second until the service is not
  * ready any more, ends it meanwhile as SIGTERM does, and checks that no request and no order is
  * lost.
  */
object Main extends WeirApp:
  override protected def shutdownDeadline: FiniteDuration = 25.seconds

  def run(args: List[String]): Task[ExitCode] = args match
    case List(port, database, mailer) if port.toIntOption.isDefined =>
      service(port.toInt, database, URI.create(mailer)).use { server =>
        Task(println(s"http://localhost:${server.port}/orders")) >> Task.never
      }
    case Nil => demo
    case _ =>
      Task(println("Give a port, a JDBC URL and the mailer's URL, or nothing.")).as(ExitCode(2))

  /** Everything that the service needs. It is released in the reverse order: the server drains
    * first, then the worker gives its jobs back, then the connections are closed.
    */
  private def service(port: Int, database: String, mailer: URI): Resource[HttpServer] =
    val settings = ServerSettings(drainDelay = 1.second, drainTimeout = 15.seconds)
    val retry = Schedule.exponential(100.millis).fullJitter.times(3)
    for
      pool <- Resource.fromAutoCloseable(Task(connections(database)))
      client <- HttpClient.resource(ClientSettings(responseTimeout = 5.seconds, retry = retry))
      orders = Orders(pool)
      _ <- Resource.eval(orders.create)
      service = Service(orders, client, mailer)
      _ <- service.sendMails.drain.background
      server <- HttpServer.serve(port, settings)(service.handle)
    yield server

  private def connections(database: String): HikariDataSource =
    val pool = HikariDataSource()
    pool.setJdbcUrl(database)
    pool.setMaximumPoolSize(16)
    pool

  // ---- the demo ----

  private def demo: Task[ExitCode] =
    val mails = AtomicInteger()
    val surroundings =
      for
        postgres <- Resource.fromAutoCloseable(Task(EmbeddedPostgres.start()))
        mailer <- HttpServer.serve(0)(_ => Task(mails.incrementAndGet()).as(Response(204)))
        client <- HttpClient.resource()
      yield (postgres.getJdbcUrl("postgres", "postgres"), mailer.port, client)
    surroundings.use { (database, mailer, client) =>
      val ofMailer = URI.create(s"http://localhost:$mailer")
      for
        running <- service(0, database, ofMailer).allocated
        (server, release) = running
        address = s"http://localhost:${server.port}"
        isReady = AtomicBoolean(true)
        balancer <- notReady(client, address).flatMap(_ => Task(isReady.set(false))).start
        sender <- Stream
          .range(0, 600)
          .metered(5.millis)
          .takeWhile(_ => isReady.get)
          .parEvalMapUnordered(64)(send(client, s"$address/orders", _))
          .toList
          .start
        _ <- Task.sleep(3.seconds)
        took <- release.timed.map(_._1)
        answers <- sender.joinOrFail
        _ <- balancer.cancel
        stored <- again(database, ofMailer, client)
        taken = answers.collect { case Answer.Taken(item) => item }
        lost = taken.toSet -- stored
        cut = answers.count(_ == Answer.CutOff)
        _ <- Task(
          println(
            s"${taken.size} orders were taken, ${lost.size} of them are lost, $cut requests were " +
              s"cut off; the release took ${took.toMillis} ms; ${mails.get} mails"
          )
        )
      yield if taken.nonEmpty && lost.isEmpty && cut == 0 then ExitCode.Success else ExitCode(1)
    }

  /** Asks, as a load balancer does, until the server is not ready any more. */
  private def notReady(client: HttpClient, address: String): Task[Int] =
    (Task.sleep(50.millis) >> client.send(Request.get(s"$address/ready")).map(_.status))
      .iterateUntil(_ != 200)

  private enum Answer:
    case Taken(item: String)
    case Refused, CutOff

  private def send(client: HttpClient, url: String, number: Int): Task[Answer] =
    val order = s"""{"mail":"$number@example.org","item":"item $number","count":1}"""
    client
      .send(Request.post(url, Body.text(order)))
      .map(response =>
        if response.status == 201 then Answer.Taken(s"item $number") else Answer.Refused
      )
      .recover {
        case _: ConnectException => Answer.Refused
        case _: IOException => Answer.CutOff
      }

  /** Starts the service anew, as the next process would, and returns the items that it has. */
  private def again(database: String, mailer: URI, client: HttpClient): Task[Set[String]] =
    service(0, database, mailer).use { server =>
      for
        list <- client.send(Request.get(s"http://localhost:${server.port}/orders"))
        lines <- list.body.text()
      yield lines.linesIterator.map { case s"$_\"item\":\"$item\"$_" => item }.toSet
    }
