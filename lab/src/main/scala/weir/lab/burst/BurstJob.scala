package weir.lab.burst

import java.io.PrintWriter
import scala.collection.mutable
import scala.concurrent.duration.*

import weir.Task
import weir.lab.{Harness, LabOptions, RivalJvm}
import weir.lab.ChildOutput.Message
import weir.program.{Foreground, Result, ResultTable}

/** The whole of `weir burst`: has every system run every part, one JVM after the other. */
final class BurstJob(settings: BurstJob.Settings, out: PrintWriter, err: PrintWriter):
  private val results = mutable.ArrayBuffer.empty[Result]
  private var baseLine = 0
  private var isComplete = true

  /** Returns the exit code. */
  def run(): Int =
    val parts = for
      part <- BurstJob.parts(settings)
      round <- 1 to part.rounds
      system <- settings.systems
    yield Task.delay(measure(part, round, system))
    Foreground.run(Task.foreach(parts)(identity).andThen(Task.delay(finish()))) match
      case Foreground.Ended.Done(code) => code
      case Foreground.Ended.Stopped(code, _) => code

  private def measure(part: BurstJob.Part, round: Int, system: String): Unit =
    val again = if round == 1 then "" else s", once more ($round of ${part.rounds})"
    say(s"$system: ${part.description}$again")
    val own = settings.caseTime.orElse(Option.when(settings.lab.isQuick)(part.quickCase))
    val jvm = RivalJvm(
      "burst",
      system,
      options = Seq(
        "part" -> part.name,
        "calls" -> settings.calls,
        "blockMillis" -> BurstJob.block.toMillis,
        "warmUpMillis" -> own.getOrElse(BurstJob.usualWarmUp).toMillis,
        "caseMillis" -> own.getOrElse(BurstJob.usualCase).toMillis
      ) ++ part.options,
      jvmFlags = Seq("-Xms1g", "-Xmx1g"),
      deadline = BurstJob.deadline
    )
    val isFine = jvm.run(err):
      case Message.Measured(result) => results += result
      case Message.Event(json) =>
        for number <- json.value.get("baseLine") do baseLine = baseLine.max(number.num.toInt)
      case _ => ()
    if !isFine then isComplete = false

  private def finish(): Int =
    val all = BurstJob.medians(results.toVector)
    ResultTable.byUnit(all, BurstJob.tables(baseLine)).foreach(say)
    settings.lab.hand("burst", all, isComplete)

  private def say(line: String): Unit =
    out.println(line)
    out.flush()

object BurstJob:
  /** @param fibers
    *   in growing numbers, since some systems keep the threads of one for the next
    * @param blocked
    *   as `fibers`, for the tasks that each block
    * @param caseTime
    *   the time for which each case is warmed up and measured, if not as usual
    */
  final case class Settings(
      systems: Vector[String],
      fibers: Vector[Int],
      calls: Int,
      blocked: Vector[Int],
      caseTime: Option[FiniteDuration],
      lab: LabOptions.Checked
  )

  val systems: Vector[String] =
    Vector("weir", "cats-effect", "cats-effect-vt", "zio", "virtual-threads")

  private val block = 10.millis
  private val deadline = 4.minutes

  /** The time for which a case is measured. */
  private val usualCase = 1.second

  /** The time for which a case is warmed up. The first of the growing numbers takes twice as long.
    * After that the compiler is done, on every system.
    */
  private val usualWarmUp = 3.seconds

  /** @param quickCase
    *   as [[usualCase]] and [[usualWarmUp]], with `--quick`: longer where the JVM's compiler has
    *   more to do
    * @param rounds
    *   the number of rounds in which the systems take turns, for a comparison of systems that are
    *   nearly as fast. Without them, a machine that does something else for half a minute would
    *   decide
    */
  private final case class Part(
      name: String,
      description: String,
      quickCase: FiniteDuration,
      rounds: Int,
      options: Seq[(String, Any)]
  )

  /** Each figure once: the median of its rounds. */
  private[burst] def medians(results: Vector[Result]): Vector[Result] =
    def figure(result: Result) = result.copy(value = 0)
    val rounds = results.groupMap(figure)(_.value)
    results.map(figure).distinct.map(one => one.copy(value = Harness.median(rounds(one))))

  private def parts(settings: Settings): Vector[Part] =
    val most = settings.fibers.last
    val (bursts, pause) = if settings.lab.isQuick then (5, 100.millis) else (10, 300.millis)
    Vector(
      Part(
        "nested",
        s"up to $most fibers that each make ${settings.calls} nested runSync calls",
        100.millis,
        1,
        Seq("ready" -> settings.fibers.mkString(","), "yielding" -> most, "uuid" -> most)
      ),
      Part(
        "blocked",
        s"up to ${settings.blocked.last} fibers that each block for ${block.toMillis} ms",
        400.millis,
        if settings.lab.isQuick then 1 else 5,
        Seq("fibers" -> settings.blocked.mkString(","))
      ),
      Part(
        "bursts",
        s"bursts of $most such fibers, with pauses of ${pause.toMillis} ms",
        150.millis,
        1,
        Seq("fibers" -> most, "bursts" -> bursts, "pauseMillis" -> pause.toMillis)
      )
    )

  private def tables(baseLine: Int) = Vector(
    "ms" -> "Time, ms: the median of the rounds",
    "threads" -> s"OS threads at the peak, beyond the $baseLine that the idle JVM has",
    "MB" -> "Heap at the peak, without garbage, MB"
  )
