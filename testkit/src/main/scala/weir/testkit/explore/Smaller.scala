package weir.testkit.explore

import weir.Task

/** Makes the order of a failed run smaller: leaves out choices one after the other, as long as the
  * run still fails in the same way.
  */
private[explore] object Smaller:
  /** The largest number of runs that it takes. */
  private inline val mostRuns = 400

  def apply(execution: Execution, program: () => Task[Any], failed: Run): Run =
    var best = failed
    var runs = 0
    var size = math.max(1, failed.choices.length / 2)
    while size >= 1 && runs < mostRuns do
      var from = best.choices.length - size
      while from >= 0 && runs < mostRuns do
        val run = execution.run(program, Replay(best.choices.patch(from, Nil, size)), null)
        runs += 1
        if isSame(run, failed) && isSmaller(run, best) then best = run
        from = math.min(from - size, best.choices.length - size)
      size /= 2
    best

  private def isSame(run: Run, failed: Run): Boolean =
    (run.failure ne null) && run.failure.getClass == failed.failure.getClass

  private def isSmaller(run: Run, best: Run): Boolean =
    run.preemptions <= best.preemptions && run.choices.length < best.choices.length
