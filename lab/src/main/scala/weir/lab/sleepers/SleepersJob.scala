package weir.lab.sleepers

import java.io.PrintWriter
import scala.collection.mutable
import scala.concurrent.duration.*

import weir.Task
import weir.lab.{LabOptions, RivalJvm}
import weir.lab.ChildOutput.Message
import weir.program.{Foreground, Result, ResultTable}

/** The whole of `weir sleepers`: one JVM after the other, each for one part on one system. */
final class SleepersJob(settings: SleepersJob.Settings, out: PrintWriter, err: PrintWriter):
  private val results = mutable.ArrayBuffer.empty[Result]
  private var isComplete = true

  /** Returns the exit code. */
  def run(): Int =
    val parts = for
      (part, fibers) <- Vector("memory" -> settings.asleep, "wake" -> settings.wake)
      system <- settings.systems
    yield Task.delay(measure(part, fibers, system))
    Foreground.run(Task.foreach(parts)(identity).andThen(Task.delay(finish()))) match
      case Foreground.Ended.Done(code) => code
      case Foreground.Ended.Stopped(code, _) => code

  private def measure(part: String, fibers: Int, system: String): Unit =
    say(s"$system: $fibers fibers, ${SleepersJob.descriptions(part)}")
    val jvm = RivalJvm(
      "sleepers",
      system,
      options = Seq("part" -> part, "fibers" -> fibers, "seed" -> settings.lab.seed) ++
        Seq("shortestMillis" -> settings.shortest.toMillis) ++
        Seq("longestMillis" -> settings.longest.toMillis),
      jvmFlags = SleepersJob.flags,
      deadline = SleepersJob.deadline
    )
    val isFine = jvm.run(err):
      case Message.Measured(result) => results += result
      case _ => ()
    if !isFine then isComplete = false

  private def finish(): Int =
    val all = results.toVector
    ResultTable.byUnit(all, SleepersJob.tables).foreach(say)
    settings.lab.hand("sleepers", all, isComplete)

  private def say(line: String): Unit =
    out.println(line)
    out.flush()

object SleepersJob:
  /** @param asleep
    *   the number of fibers that are measured in memory
    * @param wake
    *   the number of fibers that are measured when they wake
    * @param shortest
    *   the shortest sleep of one of these
    * @param longest
    *   the longest sleep of one of these
    */
  final case class Settings(
      systems: Vector[String],
      asleep: Int,
      wake: Int,
      shortest: FiniteDuration,
      longest: FiniteDuration,
      lab: LabOptions.Checked
  )

  val systems: Vector[String] = Vector("weir", "cats-effect", "zio", "virtual-threads")

  val usualShortest: FiniteDuration = 2.seconds
  val usualLongest: FiniteDuration = 6.seconds

  /** By default, a JVM on one processor has another collector, where a thread that allocates
    * anything takes 17 MB of this heap at once: right after a collection, that counts as heap of
    * the fibers.
    */
  private val flags = Seq("-Xms3g", "-Xmx3g", "-XX:+UseG1GC")

  private val deadline = 4.minutes

  private val descriptions = Map(
    "memory" -> "their heap while they sleep",
    "wake" -> "how late they wake"
  )

  private val tables = Vector(
    "bytes" -> "Heap that a sleeping fiber takes, bytes",
    "ms" -> "How late fibers wake, ms: 99 of 100 are no later",
    "fibers" -> "Fibers that have not woken after 90 s, which count as late until then"
  )
