package weir.runtime

/** What the scheduler queues: something that runs for one slice and then returns its worker. */
private[weir] abstract class Job:

  /** Runs until the job ends, suspends or yields. Never throws. After it returns, the job may
    * already be running on another worker.
    */
  def runSlice(host: Host): Unit
