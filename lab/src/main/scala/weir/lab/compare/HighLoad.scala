package weir.lab.compare

import java.io.PrintWriter
import scala.collection.mutable

import weir.lab.{LabOptions, RivalJvm}
import weir.lab.ChildOutput.Message
import weir.program.{Result, Systems, TerminalTable, Text}

/** Very many short tasks that compute: what handing a task over costs, from one producer to as many
  * consumers as there are processors. Each way of each system has a JVM of its own, one after the
  * other.
  */
final class HighLoad(load: HighLoad.Settings, out: PrintWriter, err: PrintWriter):
  private val results = mutable.ArrayBuffer.empty[Result]

  /** Returns the exit code: 1 if a way has not consumed each task once. */
  def run(): Int =
    err.println(s"${load.tasks} tasks of ${load.work.text}, ${load.consumers} consumers")
    val ways = HighLoad.ways.filter((system, _) => load.systems.contains(system))
    val isFine = (HighLoad.bound +: ways).map(measure).forall(identity)
    val bound = results.find(_.system == Systems.bound)
    bound.foreach(bound => TerminalTable.lines(header, rows(bound)).foreach(out.println))
    load.lab.hand("compare", results.toSeq, isFine)

  private def measure(system: String, way: String): Boolean =
    val jvm = RivalJvm(
      "high-load",
      system,
      options = Seq(
        "way" -> way,
        "tasks" -> load.tasks,
        "work" -> load.work.text,
        "consumers" -> load.consumers,
        "seed" -> load.lab.seed
      )
    )
    jvm.run(err):
      case Message.Measured(result) => results += result
      case _ => ()

  private def header = Vector("way", "system", "seconds", "ratio", "ns a task")

  private def rows(bound: Result): Seq[Vector[String]] =
    val ideal = ShortTasks(load.tasks, load.work, load.consumers, load.lab.seed).idealMillis
    row("ideal", "", ideal, bound.value) +: results.toSeq.map: result =>
      row(result.name.stripPrefix("high-load: "), result.system, result.value, bound.value)

  /** Returns a row. Its last figure is the cost of a task for a consumer beyond the work itself. */
  private def row(way: String, system: String, millis: Double, bound: Double): Vector[String] =
    Vector(
      way,
      system,
      Text.decimal(millis / 1000, 3),
      Text.decimal(millis / bound, 3),
      ((millis - bound) * 1e6 * load.consumers / load.tasks).round.toString
    )

object HighLoad:
  final case class Settings(
      tasks: Int,
      work: WorkTimes,
      consumers: Int,
      systems: Vector[String],
      lab: LabOptions.Checked
  )

  /** The work alone: it is measured too, since it takes a little longer than it should. */
  private val bound = Systems.bound -> "work"

  private val ways = Vector(
    Systems.weir -> "blocking-queue",
    Systems.weir -> "queue",
    Systems.weir -> "queue-batches",
    Systems.weir -> "stealing-queues",
    Systems.weir -> "stream",
    "platform-threads" -> "blocking-queue",
    "virtual-threads" -> "blocking-queue",
    "virtual-threads" -> "thread-each",
    "fork-join" -> "submit-each",
    "cats-effect" -> "queue",
    "fs2" -> "stream",
    "ox" -> "stream"
  )

  val systems: Vector[String] = ways.map(_._1).distinct
