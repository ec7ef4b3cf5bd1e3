package weir.metrics

import java.util.{Collections, IdentityHashMap}
import weir.WeirRuntime
import weir.fiber.FiberCore
import weir.metrics.Metric.{Kind, Point}

/** Reads the metrics of a runtime, while its fibers continue to run. */
private[weir] object RuntimeMetrics:

  def apply(runtime: WeirRuntime): Vector[Metric] =
    val scheduler = runtime.scheduler
    val sums = scheduler.fiberSums
    val lost = scheduler.fiberRegistry.collected
    Vector(
      Metric(
        "weir.fibers",
        Kind.UpDownCounter,
        "{fiber}",
        "Fibers that have not ended, by state.",
        states(runtime, sums.live - lost)
      ),
      Metric.one(
        "weir.fibers.begun",
        Kind.Counter,
        "{fiber}",
        "Fibers that have begun.",
        sums.begun.toDouble
      ),
      Metric(
        "weir.fibers.ended",
        Kind.Counter,
        "{fiber}",
        "Fibers that have ended, by outcome. Nothing could wake those that are lost.",
        Vector(
          "succeeded" -> sums.succeeded,
          "failed" -> sums.failed,
          "cancelled" -> sums.canceled,
          "lost" -> lost
        ).map((outcome, count) => Point(Vector("outcome" -> outcome), count.toDouble))
      ),
      gauge(
        "weir.scheduler.queue.age",
        "s",
        "Time for which the oldest ready fiber has waited for a carrier, at least.",
        scheduler.queueAgeNanos / 1e9
      ),
      gauge(
        "weir.scheduler.carriers",
        "{carrier}",
        "Carriers of virtual threads.",
        scheduler.carriers
      ),
      gauge(
        "weir.scheduler.carriers.busy",
        "{carrier}",
        "Carriers that run fibers.",
        scheduler.runnableWorkers
      ),
      gauge("weir.timers", "{timer}", "Sleeps and time limits that are set.", runtime.timers.size),
      gauge(
        "weir.tasks.abandoned",
        "{task}",
        "Tasks that were abandoned and have not ended.",
        runtime.abandonedTasks
      ),
      Metric.one(
        "weir.spins",
        Kind.Counter,
        "{spin}",
        "Pieces of tasks that computed for over 200 ms without yielding.",
        scheduler.watch.spinsFound.toDouble
      )
    )

  private def gauge(name: String, unit: String, description: String, value: Double): Metric =
    Metric.one(name, Kind.Gauge, unit, description, value)

  /** Returns the numbers of fibers by state. Fibers that are on a thread or in a queue are looked
    * for, as for a dump; the rest waits.
    */
  private def states(runtime: WeirRuntime, live: Long): Vector[Point] =
    val scheduler = runtime.scheduler
    val seen = Collections.newSetFromMap(IdentityHashMap[FiberCore, java.lang.Boolean]())
    var running, blocking, ready, begunReady = 0L
    def look(fiber: FiberCore): Unit =
      val thread = fiber.runningOn
      if (thread ne null) && (fiber.suspendedIn eq null) && seen.add(fiber) then
        if thread.getState == Thread.State.RUNNABLE then running += 1 else blocking += 1
    (scheduler.executionThreads.map(_.running) ++ scheduler.fiberRegistry.fibers).foreach {
      case fiber: FiberCore => look(fiber)
      case _ => ()
    }
    scheduler.queued.foreach {
      case fiber: FiberCore =>
        ready += 1
        if fiber.isBegun then begunReady += 1
      case _ => ready += 1
    }
    val waiting = math.max(0, live - running - blocking - begunReady)
    Vector("running" -> running, "ready" -> ready, "waiting" -> waiting, "blocking" -> blocking)
      .map((state, count) => Point(Vector("state" -> state), count.toDouble))
