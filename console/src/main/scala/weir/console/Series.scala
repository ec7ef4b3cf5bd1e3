package weir.console

import java.lang.management.ManagementFactory

/** A figure with a history.
  *
  * @param unit `s`, `MB`, `%`, `per s`, or empty for a number
  */
private[console] final class Series(val id: String, val label: String, val unit: String)

private[console] object Series:
  private final class Read(val series: Series, val value: Figures => Double)

  private def state(name: String): Read =
    Read(Series(name, s"Fibers $name", ""), _.value("weir.fibers", "state" -> name))

  private def gauge(id: String, label: String, unit: String, metric: String): Read =
    Read(Series(id, label, unit), _.value(metric))

  private def rate(id: String, label: String, metric: String, attributes: (String, String)*): Read =
    Read(Series(id, label, "per s"), _.perSecond(metric, attributes*))

  private val ofRuntime = Vector(
    state("running"),
    state("ready"),
    state("waiting"),
    state("blocking"),
    rate("begun", "Fibers begun", "weir.fibers.begun"),
    rate("ended", "Fibers ended", "weir.fibers.ended"),
    rate("failed", "Fibers failed", "weir.fibers.ended", "outcome" -> "failed"),
    rate("cancelled", "Fibers cancelled", "weir.fibers.ended", "outcome" -> "cancelled"),
    gauge("age", "Age of the run queue", "s", "weir.scheduler.queue.age"),
    gauge("busy", "Carriers busy", "", "weir.scheduler.carriers.busy"),
    gauge("carriers", "Carriers", "", "weir.scheduler.carriers"),
    gauge("timers", "Timers", "", "weir.timers"),
    gauge("abandoned", "Tasks abandoned", "", "weir.tasks.abandoned"),
    gauge("spins", "Spins since the start", "", "weir.spins")
  )

  private val ofProcess =
    Vector(Series("cpu", "Processor time of the process", "%"), Series("heap", "Heap used", "MB"))

  val all: Vector[Series] = ofRuntime.map(_.series) ++ ofProcess

  def read(figures: Figures): Vector[Double] = ofRuntime.map(_.value(figures))

  /** Returns the figures of this process: its share of all processors, and its heap. */
  def readProcess(): Vector[Double] =
    val load = ManagementFactory.getOperatingSystemMXBean match
      case system: com.sun.management.OperatingSystemMXBean => system.getProcessCpuLoad
      case _ => 0.0
    val runtime = Runtime.getRuntime
    Vector(math.max(0.0, load) * 100, (runtime.totalMemory - runtime.freeMemory) / 1e6)
