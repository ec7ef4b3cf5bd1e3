package weir.lab.scale

import java.io.{PrintWriter, StringWriter}
import java.time.Instant
import scala.concurrent.duration.*

import weir.Task
import weir.lab.{LabOptions, RivalJvm}
import weir.lab.ChildOutput.Message
import weir.program.{DurationText, Foreground}

/** The measuring of `weir scale`: one JVM after the other, until all have run or the time is over.
  */
private[lab] final class ScaleJob(settings: ScaleJob.Settings, out: PrintWriter, err: PrintWriter):
  import settings.{lab, processors}

  private val steps = ScaleStep.all(settings.systems, settings.carriers, settings.rows)
  private val end = System.nanoTime() + (settings.time - ScaleJob.reserve).toNanos
  @volatile private var report = ScaleReport(
    sys.props.getOrElse("weir.commit", "unknown"),
    Runtime.version.toString,
    Runtime.getRuntime.availableProcessors,
    Instant.now(),
    settings.notes :+ processors.said,
    steps
  )

  /** Returns the exit code. */
  def run(): Int =
    report.notes.foreach(say)
    Foreground.run(measureFrom(steps).andThen(Task.delay(finish()))) match
      case Foreground.Ended.Done(code) => code
      case Foreground.Ended.Stopped(code, _) =>
        ScaleFiles.write(report, lab)
        code

  private def measureFrom(steps: Vector[ScaleStep]): Task[Unit] =
    TimeShare.next(steps, left, if lab.isQuick then TimeShare.mostOfQuick else TimeShare.most) match
      case None => Task.unit
      case Some((count, share)) =>
        val unmeasured = Task.delay:
          say(ScaleJob.beginning(steps.take(count), share, left))
          measure(steps.head, share)
        unmeasured.flatMap(again => measureFrom(again.toVector ++ steps.tail))

  /** Returns the rest of `step`: its JVM ended before it came to these rows. None if it came to no
    * row: another JVM would do no better.
    */
  private def measure(step: ScaleStep, share: TimeShare): Option[ScaleStep] =
    var tried = Set.empty[ScaleRow]
    val printed = StringWriter()
    val _ = jvm(step, share).run(PrintWriter(printed, true)):
      case Message.Measured(result) =>
        report = report.copy(results = report.results :+ result)
        tried ++= ScalePlan.parseCase(result.name).map(_._1)
        ScaleFiles.writeJson(report, lab)
      case Message.Failed(name, _, why) if !why.startsWith(ScalePlan.notBegun) =>
        tried ++= ScalePlan.parseCase(name).map(_._1)
      case _ => ()
    noteProblems(step, printed.toString)
    ScaleFiles.write(report, lab)
    val rest = step.rows.filterNot(tried)
    Option.when(tried.nonEmpty && rest.nonEmpty)(step.copy(rows = rest))

  private def noteProblems(step: ScaleStep, printed: String): Unit =
    val lines = printed.linesIterator.toVector.filterNot(_.contains(ScalePlan.notBegun))
    lines.foreach(err.println)
    val whys = lines.flatMap(_.split(RivalJvm.noResult, 2).lift(1))
    report = report.copy(problems = report.problems ++ whys.map(why => s"${step.label}: $why"))

  private def jvm(step: ScaleStep, share: TimeShare): RivalJvm =
    RivalJvm(
      ScalePlan.experiment,
      step.system,
      options = Seq(
        "row" -> step.rows.map(_.id).mkString(","),
        "carriers" -> step.carriers,
        "warm" -> share.warmUp.toMillis,
        "round" -> share.round.toMillis,
        "rounds" -> share.rounds
      ),
      jvmFlags = ScaleJob.heap ++ ScalePlan.flags(step.carriers) ++
        Option.when(settings.isCounting)(ScalePlan.countingFlag),
      deadline = TimeShare.deadline(step, share, left),
      prefix = processors.prefix(step.carriers)
    )

  private def left: FiniteDuration = (end - System.nanoTime()).nanos

  private def finish(): Int =
    report = report.copy(hasEnded = true)
    ScaleTables.lines(report).foreach(say)
    ScaleFiles.write(report, lab)
    if report.missing.isEmpty then 0 else 1

  private def say(line: String): Unit =
    out.println(line)
    out.flush()

private[lab] object ScaleJob:
  /** @param carriers
    *   the numbers of carriers to measure with, all within this machine's processors
    * @param time
    *   the longest time that the run may take
    * @param isCounting
    *   true if Weir counts lost races and the like, which costs speed
    * @param notes
    *   the notes before the run and in its report
    */
  final case class Settings(
      systems: Vector[String],
      carriers: Vector[Int],
      rows: Vector[ScaleRow],
      time: FiniteDuration,
      isCounting: Boolean,
      notes: Vector[String],
      processors: Processors,
      lab: LabOptions.Checked
  )

  /** Kept for the start of this program, a JVM that has to be killed, and the last page. */
  val reserve: FiniteDuration = 8.seconds

  /** The collector that a JVM with one processor would not choose by itself, so that it is the same
    * with all.
    */
  private val heap = Seq("-Xms1g", "-Xmx2g", "-XX:+UseG1GC")

  private def beginning(steps: Seq[ScaleStep], share: TimeShare, left: FiniteDuration): String =
    val step = steps.head
    val rows = if step.rows.sizeIs == 1 then "1 row" else s"${step.rows.size} rows"
    s"${step.label}: $rows, ${DurationText.show(share.total)} each; ${steps.size} JVMs to go, " +
      s"${DurationText.show(left)} left"
