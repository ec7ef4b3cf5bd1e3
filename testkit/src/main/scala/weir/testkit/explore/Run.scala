package weir.testkit.explore

import weir.Outcome
import weir.testkit.agent.Site

/** The limits of a run, and the kinds of its choice points. */
private[explore] final case class StepLimits(
    steps: Int = 20_000,
    patienceNanos: Long = 20_000_000,
    plainFields: Boolean = false,
    inside: List[String] = Nil,
    earlyTimers: Boolean = false
):
  /** Returns true if each access at `site`, in this library's own code, is a choice point. */
  def isInside(site: Site): Boolean = inside.nonEmpty && inside.exists(site.inClass.startsWith)

/** One run: its end, and the choices that repeat it. */
private[testkit] final case class Run(
    failure: Throwable | Null,
    choices: Vector[(Int, Int)],
    steps: Int,
    preemptions: Int,
    strands: Int,
    outcome: Outcome[Any] | Null
)
