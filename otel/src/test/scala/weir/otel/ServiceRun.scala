package weir.otel

import java.nio.file.{Files, Path}
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.http.{Body, Headers, HttpClient, HttpServer, Request, Response}
import weir.{Resource, Stream, Task}

/** A run of the service of `examples/service` in a JVM of its own: 200 requests a second, each with
  * a trace context of its own.
  *
  * @param sent the requests, as their sender knows them
  * @param mails the trace context that the mailer got with the mail of each order
  * @param counted the requests that `/metrics` has counted, by the class of their status
  * @param output the standard output of the service
  * @param errors its standard error
  */
private[otel] final class ServiceRun(
    val sent: Vector[ServiceRun.Sent],
    val mails: Map[Long, Option[String]],
    val counted: Map[String, Int],
    val output: Path,
    val errors: String,
    val exitCode: Int
)

private[otel] object ServiceRun:
  enum Kind:
    case Add, Look, ListAll

  /** @param trace the id of the request's trace
    * @param span the id of the sender's span, which is the parent of the service's
    * @param order the order that was added or looked at; 0 if there was none
    */
  final case class Sent(
      kind: Kind,
      trace: String,
      span: String,
      status: Int,
      order: Long,
      took: FiniteDuration
  )

  private val perSecond = 200

  /** Runs the service with the options `jvm`, in the database at `jdbc`. Once all requests are
    * answered, calls `settle` with their senders' view of them, then ends the service by SIGTERM.
    */
  def apply(jvm: Seq[String], jdbc: String, seconds: Int)(
      settle: Vector[Sent] => Unit
  ): ServiceRun =
    val mails = ConcurrentHashMap[Long, Option[String]]()
    val surroundings =
      for
        mailer <- HttpServer.serve(0)(mail(mails, _))
        client <- HttpClient.resource()
        service <- Resource.make(Task(Service(jvm, jdbc, mailer.port)))(service =>
          Task(service.kill())
        )
      yield (service, client)
    surroundings
      .use { (service, client) =>
        for
          sent <- Load(client, service.address).sendAll(seconds * perSecond)
          _ <- Task(settle(sent))
          metrics <- client.send(Request.get(s"${service.console}metrics")).flatMap(_.body.text())
          code <- Task(service.end())
        yield new ServiceRun(
          sent,
          mails.asScala.toMap,
          counts(metrics),
          service.output,
          Files.readString(service.errors),
          code
        )
      }
      .runSync()

  private def mail(mails: ConcurrentHashMap[Long, Option[String]], request: Request) = Task {
    mails.put(request.segments.last.toLong, request.headers.get("traceparent")): Unit
    Response(204)
  }

  private def counts(metrics: String): Map[String, Int] =
    """(?m)^weir_http_server_requests\w*\{.*status="(\w+)"} (\S+)$""".r
      .findAllMatchIn(metrics)
      .map(found => found.group(1) -> found.group(2).toDouble.toInt)
      .toMap

  /** The process of the service. */
  private final class Service(jvm: Seq[String], jdbc: String, mailer: Int):
    private val folder = Files.createTempDirectory("weir-service")
    val output: Path = folder.resolve("output")
    val errors: Path = folder.resolve("errors")
    private val java = Path.of(System.getProperty("java.home"), "bin", "java").toString
    private val classPath = Seq("-cp", System.getProperty("java.class.path"), "orders.Main")
    private val process = ProcessBuilder(
      ((java +: jvm) ++ ("-Dweir.console=0" +: classPath) ++
        Seq("0", jdbc, s"http://localhost:$mailer"))*
    ).redirectOutput(output.toFile).redirectError(errors.toFile).start()

    /** Where the orders are. */
    val address: String = found(output, """(?m)^(http://localhost:\d+/orders)$""")
    val console: String = found(errors, """the console is at (http://localhost:\d+/)""")

    private def found(in: Path, line: String): String =
      val deadline = 60.seconds.fromNow
      def look = line.r.findFirstMatchIn(Files.readString(in)).map(_.group(1))
      Iterator
        .continually {
          Thread.sleep(20) // the line comes when the other process is ready
          look
        }
        .takeWhile(found => found.nonEmpty || process.isAlive && deadline.hasTimeLeft())
        .flatten
        .nextOption()
        .getOrElse {
          kill()
          throw IllegalStateException(s"the service did not start: ${Files.readString(errors)}")
        }

    /** Ends it as an operator does, and returns its exit code. */
    def end(): Int =
      process.destroy()
      if process.waitFor(60, TimeUnit.SECONDS) then process.exitValue else -1

    def kill(): Unit = process.destroyForcibly(): Unit

  /** The load generator. */
  private final class Load(client: HttpClient, address: String):
    private val taken = ConcurrentHashMap[Int, Long]()

    def sendAll(count: Int): Task[Vector[Sent]] =
      Stream
        .range(0, count)
        .metered(1.second / perSecond)
        .parEvalMapUnordered(perSecond)(one)
        .toVector

    /** Of twenty requests, fourteen add an order, five look at one, and one asks for all. */
    private def one(number: Int): Task[Sent] =
      val known = Option(taken.get(number / 2))
      if number % 20 == 19 then send(number, Kind.ListAll, 0, Request.get(address))
      else if number % 4 == 1 && known.nonEmpty then
        send(number, Kind.Look, known.get, Request.get(s"$address/${known.get}"))
      else
        val order = s"""{"mail":"$number@example.org","item":"item $number","count":1}"""
        send(number, Kind.Add, 0, Request.post(address, Body.text(order)))

    private def send(number: Int, kind: Kind, order: Long, request: Request): Task[Sent] =
      val trace = f"${0x46}%016x${number + 1}%016x"
      val span = f"${number + 1}%016x"
      val traced = request.copy(headers = Headers("traceparent" -> s"00-$trace-$span-01"))
      client
        .send(traced)
        .flatMap(response => response.body.text().map(response.status -> _))
        .timed
        .map { case (took, (status, body)) =>
          val added = """"id":(\d+)""".r.findFirstMatchIn(body).map(_.group(1).toLong)
          if kind == Kind.Add then added.foreach(taken.put(number, _))
          Sent(
            kind,
            trace,
            span,
            status,
            if kind == Kind.Add then added.getOrElse(0) else order,
            took
          )
        }
