package weir.runtime

/** What the scheduler queues: something that runs for one slice and then gives its thread back. All
  * that this folder knows of a fiber.
  */
private[weir] abstract class Job:

  /** Runs on `executionThread`, the calling thread, until the job ends, suspends or yields. Never
    * throws. When it returns, the job may already be running on another thread.
    */
  def runSlice(executionThread: ExecutionThread): Unit

  /** Whether a worker is needed for this job yet. Asked by the standby that has taken it, before
    * its first slice.
    */
  def demand: Int = Job.Now

private[weir] object Job:
  /** Run it. */
  inline val Now = 0

  /** Others do its work faster without this worker, as things stand: ask again soon. */
  inline val Later = 1

  /** Others have done its work: drop it. */
  inline val Never = 2
