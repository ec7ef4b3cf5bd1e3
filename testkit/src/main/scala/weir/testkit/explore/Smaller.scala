package weir.testkit.explore

import weir.Task

/** Makes the order of a failed run smaller: leaves out choices one after the other, as long as the
  * run still fails in the same way.
  */
private[explore] object Smaller:
  /** The largest number of runs that it takes. */
  private inline val mostRuns = 400

  /** The most real time that it takes: a run may be long. */
  private inline val mostNanos = 4_000_000_000L

  def apply(execution: Execution, program: () => Task[Any], failed: Run): Run =
    var best = failed
    var runs = 0
    val end = System.nanoTime() + mostNanos
    def goesOn = runs < mostRuns && System.nanoTime() < end
    var size = math.max(1, failed.choices.length / 2)
    while size >= 1 && goesOn do
      var from = best.choices.length - size
      while from >= 0 && goesOn do
        val run = execution.run(program, Replay(best.choices.patch(from, Nil, size)), null)
        runs += 1
        if isSame(run, failed) && isSmaller(run, best) then best = run
        from = math.min(from - size, best.choices.length - size)
      size /= 2
    best

  /** The same type of error, from the same line. */
  private def isSame(run: Run, failed: Run): Boolean =
    (run.failure ne null) && run.failure.getClass == failed.failure.getClass &&
      line(run.failure.nn) == line(failed.failure.nn)

  private def line(error: Throwable): Option[(String, Int)] = error.getStackTrace
    .find(frame => Instrumentation.isTold(frame.getClassName))
    .map(frame => (frame.getFileName, frame.getLineNumber))

  private def isSmaller(run: Run, best: Run): Boolean =
    run.preemptions <= best.preemptions && run.choices.length < best.choices.length
