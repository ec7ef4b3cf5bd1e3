package weir.group

import weir.fiber.{BeginFrame, TaskFiber}
import weir.runtime.{Job, Tuning}

/** The instruction that the fiber of a runner begins with. While the fiber is queued, it decides
  * whether a further worker is of use to the group yet.
  *
  * A second carrier that joins 1,000 ready children makes them slower. So while the standby holds
  * the helper and the others take one child after the other, the standby only watches. The helper
  * is demanded as soon as few children were taken since the last look, which is at once if children
  * block, and in any case after a while. Once a runner has been spawned, the helper is demanded at
  * once. `helperRequested` stays true meanwhile.
  */
private final class RunnerTask(group: ChildGroup, role: Int) extends BeginFrame[Unit]:
  /** The number of children that had been taken at the last look. */
  private var seen = if role == Runner.Helper then group.takenCount else 0
  private var looks = 0

  def begin(fiber: TaskFiber): Runner = Runner(group, fiber, role)

  override def demand: Int =
    if role == Runner.First then Job.Now
    else if group.hasEnded then Job.Never
    else if group.isRegistered then Job.Now // children block: each further runner speeds them up
    else
      val now = group.takenCount
      // The first look may follow the request so soon that hardly any child can have been taken.
      val fast = if looks == 0 then 1 else Tuning.watchedGroup
      looks += 1
      if now - seen < fast || looks > Tuning.watchRounds then Job.Now
      else
        seen = now
        Job.Later
