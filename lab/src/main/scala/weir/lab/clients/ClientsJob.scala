package weir.lab.clients

import java.io.PrintWriter
import scala.collection.mutable
import scala.concurrent.duration.*

import weir.Task
import weir.cli.purchases.{PurchaseBook, PurchaseService}
import weir.lab.{LabOptions, RivalJvm}
import weir.lab.ChildOutput.Message
import weir.program.{DurationText, Foreground, Result, Systems, TerminalTable, Text}

/** The whole of `weir clients`: serves, has every way ask, and compares. */
final class ClientsJob(settings: ClientsJob.Settings, out: PrintWriter, err: PrintWriter):
  import settings.{delay, few, many}

  private val book = PurchaseBook(settings.lab.seed)
  private val results = mutable.ArrayBuffer.empty[Result] // guarded by itself
  @volatile private var isComplete = true

  /** Returns the exit code. */
  def run(): Int =
    val service = PurchaseService.start(book, delay, settings.port.getOrElse(0))
    try
      val job = if settings.port.nonEmpty then serve(service) else measure(service)
      Foreground.run(job) match
        case Foreground.Ended.Done(code) => code
        case Foreground.Ended.Stopped(code, _) => code
    finally service.close()

  private def serve(service: PurchaseService): Task[Int] =
    Task
      .delay:
        say(s"${service.url}/clients/7/purchases answers after ${DurationText.show(delay)}")
        say("Ctrl-C ends it")
      .andThen(Task.never)

  private def measure(service: PurchaseService): Task[Int] =
    val (slow, fast) = settings.ways.partition(_.reach.ordinal <= Way.Reach.Processors.ordinal)
    val beside = slow.filterNot(settings.lab.isQuick && _ == Way.OneByOne)
    val unlimited = fast.filter(_.reach == Way.Reach.Any)
    val cases = (beside ++ fast).map(_.caseOf(few)) ++ unlimited.map(_.caseOf(many))
    // The slow ways only wait, so they do not disturb the others; and when 10,000 clients ask, no
    // other way runs.
    Task
      .both(
        Task.parTraverse(beside)(ask(service, few)),
        Task.traverse(fast)(ask(service, few))
      )
      .andThen(Task.traverse(unlimited)(ask(service, many)))
      .andThen(Task.delay(finish(cases)))

  private def ask(service: PurchaseService, ids: Int)(way: Way): Task[Unit] =
    Task.delay:
      val warmUp = if ids <= ClientsJob.fewIds then settings.warmUp else settings.warmUp * 4
      val jvm = RivalJvm(
        "clients",
        way.system,
        options = Seq(
          "way" -> way.name,
          "url" -> service.url,
          "ids" -> ids,
          "sum" -> book.total(ids),
          "warmUpMillis" -> warmUp.toMillis,
          "warmUpDelayMillis" -> 20
        ),
        jvmFlags = Seq("-Xmx256m"),
        deadline = delay * ids.toLong.min(ClientsJob.fewIds) * 2 + 2.minutes
      )
      val isFine = jvm.run(err):
        case Message.Measured(result) => keep(result)
        case _ => ()
      if !isFine then isComplete = false

  private def keep(result: Result): Unit = results.synchronized:
    results += result
    say(s"${result.name}: ${Text.grouped(result.value.round)} ms")

  private def finish(cases: Vector[String]): Int =
    val measured = cases.flatMap(name => results.find(_.name == name))
    val rows = measured.map: result =>
      val ratio = Text.decimal(result.value / delay.toMillis, 2)
      Seq(result.name, result.system, Text.grouped(result.value.round), ratio)
    say("")
    val header = Seq("case", "system", "ms", s"over the ${DurationText.show(delay)} of one answer")
    TerminalTable.lines(header, rows).foreach(say)
    val all = measured.flatMap: result =>
      Seq(Result.millis(result.name, Systems.bound, delay.toMillis.toDouble), result)
    settings.lab.hand("clients", all, isComplete)

  private def say(line: String): Unit =
    out.println(line)
    out.flush()

object ClientsJob:
  /** @param port
    *   to serve there only
    * @param many
    *   the number of clients for the ways that can ask about all of them at once
    * @param warmUp
    *   the time for which a way is warmed up with few ids; with many ids, four times as long
    */
  final case class Settings(
      ways: Vector[Way],
      delay: FiniteDuration,
      port: Option[Int],
      few: Int,
      many: Int,
      warmUp: FiniteDuration,
      lab: LabOptions.Checked
  )

  val usualWarmUp: FiniteDuration = 1.second

  /** Up to this number of ids, even asking one by one takes an acceptable time. */
  private val fewIds = 100
