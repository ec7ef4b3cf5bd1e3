package weir.otel

import scala.concurrent.duration.*
import weir.Tier
import weir.otel.ExportedSpans.Span
import weir.otel.ServiceRun.{Kind, Sent}
import weir.postgres.ServerSuite

/** The service of `examples/service`, 200 requests a second, with the Java agent of OpenTelemetry
  * and without it. `-Dweir.service.seconds=60` sets the time for which requests are sent, and has
  * the figures of each run printed.
  */
class ServiceSuite extends ServerSuite:
  private val seconds = Tier.size("weir.service.seconds", 2, 60)

  override def limit: FiniteDuration = (120 + 2 * seconds).seconds

  /** Long runs are compiled as they would be in production. */
  private val jvm = if seconds < 30 then Seq("-XX:TieredStopAtLevel=1") else Nil

  private val withAgent = jvm ++ Seq(
    s"-javaagent:${System.getProperty("weir.otel.agent")}",
    "-Dotel.traces.exporter=experimental-otlp/stdout",
    "-Dotel.metrics.exporter=none",
    "-Dotel.logs.exporter=none",
    "-Dotel.bsp.max.queue.size=200000" // none is dropped
  )

  /** Runs the service in a new database, until each order is mailed, and returns the run with the
    * name of the database. Checks the figures.
    */
  private def run(jvm: Seq[String]): (ServiceRun, String) =
    val database = server.newDatabase()
    val run = ServiceRun(jvm, server.jdbc(database), seconds) { sent =>
      val orders = sent.count(_.kind == Kind.Add)
      eventually("each order is mailed")(mailed(database) == orders)
    }
    assertEquals(run.exitCode, 143, run.errors)
    assertEquals(run.sent.size, 200 * seconds)
    assertEquals(run.sent.filterNot(_.status / 100 == 2), Vector.empty)
    assertEquals(run.counted, Map("2xx" -> run.sent.size))
    val orders = run.sent.filter(_.kind == Kind.Add).map(_.order)
    assertEquals(orders.distinct.size, orders.size)
    assertEquals(run.mails.keySet, orders.toSet)
    (run, database)

  private def mailed(database: String): Int = server.admin(database) { connection =>
    val rows = connection.createStatement().executeQuery("SELECT count(*) FROM orders WHERE mailed")
    rows.next(): Unit
    rows.getInt(1)
  }

  private def report(run: ServiceRun, more: String): Unit =
    if System.getProperty("weir.service.seconds") != null then
      val times = run.sent.map(_.took).sorted
      def at(share: Double) = f"${times((times.size * share).toInt).toMicros / 1000.0}%.1f ms"
      println(
        s"${run.sent.size} requests, counted by /metrics: ${run.counted}, p50 ${at(0.5)}, " +
          s"p99 ${at(0.99)}, ${run.mails.size} mails$more"
      )

  if Tier.isLong || sys.props.contains("weir.service.seconds") then
    test("without the agent, /metrics agrees with the sender, and no trace context is sent on"):
      val (ended, _) = run(jvm)
      report(ended, "")
      assertEquals(ended.mails.values.flatten.toVector, Vector.empty)

  test("with the agent, each span of a request is in its trace, and none in another's"):
    val (ended, database) = run(withAgent)
    val spans = ExportedSpans.in(ended.output)
    val byTrace = spans.groupBy(_.traceId).withDefaultValue(Vector.empty)
    report(ended, s", ${spans.size} spans")
    val wrong = ended.sent.flatMap { sent =>
      problems(sent, byTrace(sent.trace), database, ended.mails.get(sent.order).flatten)
        .map(problem => s"$problem: $sent, ${byTrace(sent.trace)}")
    }
    assertEquals(wrong.take(3), Vector.empty, s"and ${wrong.size - 3} more")
    // The traces of the queue's own statements, of the JVM's start, and of the look at /metrics.
    val others = byTrace.removedAll(ended.sent.map(_.trace)).values.flatten.toVector
    val strange = others.filter { span =>
      span.name.contains(".orders") && !span.name.startsWith("CREATE") || span.name == "PUT" ||
      span.name == "send mail" || span.isServer && !span("url.path").contains("/metrics")
    }
    assertEquals(strange.take(3), Vector.empty, s"and ${strange.size - 3} more")

  /** Returns what is wrong with the spans of a request.
    *
    * @param mailed the trace context that the mailer got with the order's mail
    */
  private def problems(
      sent: Sent,
      spans: Vector[Span],
      database: String,
      mailed: Option[String]
  ): Vector[String] =
    val (first, inner) = spans.partition(_.isServer)
    // A connection that the pool makes within the request has a span, with the database's name.
    val names = inner.map(_.name).filter(_ != database).sorted
    val expected = sent.kind match
      case Kind.Look => Vector(s"SELECT $database.orders")
      case Kind.ListAll => names.map(_ => s"SELECT $database.orders") // one for each page
      case Kind.Add =>
        Vector(s"INSERT $database.orders", "INSERT weir_queue.mails", "PUT") ++
          Vector(s"SELECT $database.orders", s"UPDATE $database.orders", "send mail")
    val ids = spans.map(_.spanId).toSet
    val call = inner.find(_.name == "PUT")
    def problem(isSo: Boolean, text: => String) = Option.when(isSo)(text)
    Vector(
      problem(first.map(_.parentSpanId) != Vector(sent.span), "no single span of the server"),
      problem(names.isEmpty || names != expected.sorted, s"the spans are not $expected"),
      problem(inner.exists(span => !ids(span.parentSpanId)), "a parent is not in the trace"),
      problem(
        !call.forall(_("url.full").exists(_.endsWith(s"/mails/${sent.order}"))),
        "the mail of another order"
      ),
      problem(
        sent.kind == Kind.Add &&
          mailed != call.map(span => s"00-${sent.trace}-${span.spanId}-01"),
        s"the mailer got $mailed"
      )
    ).flatten
