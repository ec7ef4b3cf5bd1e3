package weir.runtime

/** An object that the scheduler queues. It runs for one slice and then gives its thread back. This
  * folder knows no more of a fiber than that.
  */
private[weir] abstract class Job:

  /** Runs on `executionThread`, the calling thread, until the job ends, suspends or yields. Never
    * throws. When it returns, the job may already be running on another thread.
    */
  def runSlice(executionThread: ExecutionThread): Unit

  /** Returns whether a worker is needed for this job yet: `Now`, `Later` or `Never`. The standby
    * that has taken the job calls this before the job's first slice.
    */
  def demand: Int = Job.Now

private[weir] object Job:
  /** Run it. */
  inline val Now = 0

  /** At present, others do its work faster without this worker: ask again soon. */
  inline val Later = 1

  /** Others have done its work: drop it. */
  inline val Never = 2
