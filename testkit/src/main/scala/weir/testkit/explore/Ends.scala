package weir.testkit.explore

import weir.Outcome
import weir.fiber.TaskFiber
import weir.runtime.Job
import weir.testkit.{Report, TestRuntime}

/** Finds out how a run has ended. */
private[explore] object Ends:

  /** Returns the error for which the run counts as failed; null if it has not failed. */
  def failure(
      test: TaskFiber,
      strands: collection.Seq[Strand],
      isOverrun: Boolean,
      clock: ExploreClock,
      monitors: Monitors
  ): Throwable | Null =
    val alive = strands.toList
      .flatMap(strand => Option(strand.fiber).map(fiber => (strand.id + 1, fiber.nn)))
      .filter((_, fiber) => (fiber.outcome eq null) && fiber.demand != Job.Never)
    val names = Names()
    strands.foreach(names.add)
    def report =
      names.withNumbers(Report.of(alive, test, places = false)) + locks(strands, monitors)
    test.outcome match
      case Outcome.Failed(error) => error
      case Outcome.Canceled => TestRuntime.Stuck("The test has cancelled itself.")
      case _ if isOverrun =>
        TestRuntime.Stuck(
          "The program has not ended within the limit of steps. A loop that waits for " +
            s"another fiber has to yield: by Task.cede, Thread.yield or Thread.onSpinWait.\n$report"
        )
      case null =>
        TestRuntime.Stuck(
          s"The program is stuck at ${clock.elapsedNanos / 1000000} ms: nothing can run, and no " +
            s"alarm is set.\n$report"
        )
      case _ if alive.nonEmpty =>
        val what = if alive.size == 1 then "1 fiber has" else s"${alive.size} fibers have"
        TestRuntime.Leaked(
          s"The program has ended, and $what not. Cancel or join the fibers that it " +
            s"starts.\n$report"
        )
      case _ => null

  private def locks(strands: collection.Seq[Strand], monitors: Monitors): String =
    strands
      .flatMap(strand =>
        strand.wants match
          case null => None
          case monitor =>
            val holder = monitors.holder(monitor)
            val held = if holder eq null then "" else s", held by fiber ${holder.nn.id + 1}"
            Some(
              s"\n  fiber ${strand.id + 1} waits to enter the monitor of a " +
                s"${monitor.getClass.getSimpleName}$held"
            )
      )
      .mkString
