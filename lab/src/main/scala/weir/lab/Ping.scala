package weir.lab

import java.lang.management.ManagementFactory

import weir.program.Result

/** Measures nothing: it shows that a JVM starts with its arguments, reports, and ends on request.
  */
object Ping extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    out.event(
      ujson.Obj(
        "property" -> sys.props.getOrElse("weir.ping", ""),
        "pid" -> ProcessHandle.current.pid.toString
      )
    )
    if options.has("print") then println(options.text("print"))
    if options.has("fail") then throw IllegalStateException(options.text("fail"))
    if options.has("sleepMillis") then Thread.sleep(options.long("sleepMillis"))
    val threads = ManagementFactory.getThreadMXBean.getThreadCount.toDouble
    out.result(Result("ping: threads", system, threads, "threads", Result.lower))
