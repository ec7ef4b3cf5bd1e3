package weir.lab.stack

import java.io.PrintWriter
import scala.collection.mutable
import scala.concurrent.duration.*

import weir.{Resource, Task}
import weir.cli.sql.EmbeddedServer
import weir.lab.{Harness, LabOptions, RivalJvm}
import weir.lab.ChildOutput.Message
import weir.program.{Foreground, Result, ResultTable, Systems, TerminalTable, Text}

/** The whole of `weir stack`: runs every part on both effects, in turns, one JVM after the other.
  */
final class StackJob(settings: StackJob.Settings, out: PrintWriter, err: PrintWriter):
  private val results = mutable.ArrayBuffer.empty[Result]
  private var isComplete = true

  /** Returns the exit code. */
  def run(): Int =
    val measuring = server.use { postgres =>
      val runs = for
        part <- settings.parts
        round <- 1 to settings.rounds
        // The second system finds a warmer machine, so they take turns to be second.
        system <- if round % 2 == 1 then settings.systems else settings.systems.reverse
      yield Task(measure(part, round, system, postgres))
      Task.foreach(runs)(identity)
    }
    Foreground.run(measuring.andThen(Task(finish()))) match
      case Foreground.Ended.Done(code) => code
      case Foreground.Ended.Stopped(code, _) => code

  /** No server is started if the part `skunk` is not asked for. */
  private def server: Resource[Option[EmbeddedServer]] =
    if settings.parts.contains("skunk") then EmbeddedServer.overTcp.map(Some(_))
    else Resource.pure(None)

  private def measure(
      part: String,
      round: Int,
      system: String,
      postgres: Option[EmbeddedServer]
  ): Unit =
    say(s"$system: $part ($round of ${settings.rounds})")
    val jvm = RivalJvm(
      "stack",
      system,
      options = Seq(
        "part" -> part,
        "only" -> settings.only,
        "warmUpMillis" -> settings.warmUp.toMillis,
        "caseMillis" -> settings.caseTime.toMillis,
        "rounds" -> StackJob.roundsOfCase,
        "postgresPort" -> postgres.fold(0)(_.port),
        "postgresUser" -> postgres.fold("none")(_.user),
        "postgresDatabase" -> "postgres"
      ),
      jvmFlags = Seq("-Xms1g", "-Xmx1g"),
      deadline = StackJob.deadline
    )
    val isFine = jvm.run(err):
      case Message.Measured(result) =>
        results += result
        say(ResultTable.line(result))
      case _ => ()
    if !isFine then isComplete = false

  private def finish(): Int =
    val all = StackJob.medians(results.toVector)
    say("")
    StackJob.table(all).foreach(say)
    settings.lab.hand("stack", all, isComplete)

  private def say(line: String): Unit =
    out.println(line)
    out.flush()

object StackJob:
  /** @param only
    *   the text that the name of a row must contain
    * @param rounds
    *   the number of times that each part is run on each effect
    */
  final case class Settings(
      systems: Vector[String],
      parts: Vector[String],
      only: String,
      rounds: Int,
      warmUp: FiniteDuration,
      caseTime: FiniteDuration,
      lab: LabOptions.Checked
  )

  val systems: Vector[String] = Vector(Systems.weir, "cats-effect")
  val parts: Vector[String] = Vector("http4s", "skunk", "fs2", "effects")

  private val roundsOfCase = 3
  private val deadline = 5.minutes

  /** Each figure once: the median of its rounds. */
  private[stack] def medians(results: Vector[Result]): Vector[Result] =
    def figure(result: Result) = result.copy(value = 0)
    val rounds = results.groupMap(figure)(_.value)
    results.map(figure).distinct.map(one => one.copy(value = Harness.median(rounds(one))))

  /** Operations a second, and what one takes of the processors; and how many times as good Weir is.
    */
  private[stack] def table(results: Vector[Result]): Vector[String] =
    val rows = results.map(_.name).distinct.map { name =>
      val own = results.filter(_.name == name)
      name +: own.map(_.unit).distinct.flatMap { unit =>
        val values = systems.map(system => own.find(r => r.unit == unit && r.system == system))
        val ratio = for task <- values(0); io <- values(1)
        yield if task.better == Result.higher then task.value / io.value else io.value / task.value
        values.map(_.fold("")(r => ResultTable.number(r.value))) :+
          ratio.fold("")(Text.decimal(_, 2))
      }
    }
    val header = Seq("Task, ops/s", "IO, ops/s", "better", "Task, us of CPU", "IO, us of CPU")
    TerminalTable.lines(("row" +: header) :+ "better", rows)
