package weir.group

import weir.WeirRuntime
import weir.runtime.{Scheduler, SystemTimers}

/** A runtime on which a call site learns at once that it needs no helper, however slow the machine
  * is.
  *
  * @param begin
  *   begins the thread that looks at the delayed requests
  */
private final class LearningRuntime(scheduler: Scheduler, begin: Thread => Unit = _.start())
    extends WeirRuntime(scheduler, SystemTimers(), null):

  /** True if a group counts with the time that it took. Otherwise each group is short in which no
    * child has waited.
    */
  @volatile var measures = false

  override private[weir] val helperRequests: HelperRequests = new HelperRequests(begin):
    override def learn(callSiteKey: Int, nanos: Long): Unit =
      super.learn(callSiteKey, if measures || nanos == Long.MaxValue then nanos else 0)
