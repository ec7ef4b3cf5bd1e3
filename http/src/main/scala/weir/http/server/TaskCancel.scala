package weir.http.server

/** The cancel of a request's task from outside, for the first reason that there is.
  *
  *   - **Shared**, under this object's lock: all fields.
  *   - **The client goes before there is a function that cancels.** `stop` sets `reason` first, and
  *     `apply` looks for it after it has set `cancel`.
  *   - **The task ends before there is a function that cancels it**, on a worker: `apply` leaves
  *     the function of `goesOn`.
  *   - **The time is over as the handler returns.** Either `mayAnswer` is first, and the handler is
  *     not cancelled. Or the reason is first, and the task begins no response, which the cancel
  *     would cut off.
  */
private[server] final class TaskCancel extends ((() => Unit) => Unit):
  private var cancel: (() => Unit) | Null = null
  private var why: Exchange.Reason | Null = null

  /** True once the handler has returned or failed: its time is over no more. */
  private var isAnswering = false

  def reason: Exchange.Reason | Null = synchronized(why)

  /** Takes the function that cancels the task, which may have ended already. */
  override def apply(cancelTask: () => Unit): Unit = take(cancelTask, isFirst = true)

  /** Takes the function that cuts what goes on when the task has ended. */
  def goesOn(cut: () => Unit): Unit = take(cut, isFirst = false)

  private def take(function: () => Unit, isFirst: Boolean): Unit =
    val isStopped = synchronized {
      if !isFirst || cancel == null then cancel = function
      why != null
    }
    if isStopped then function()

  /** Cancels the task. */
  def stop(because: Exchange.Reason): Unit =
    val cancelTask = synchronized {
      if why == null then why = because
      cancel
    }
    if cancelTask != null then cancelTask()

  /** Cancels the task, unless its handler has ended or the task is being cancelled. */
  def stopHandler(because: => Exchange.Reason): Unit =
    val cancelTask = synchronized {
      if isAnswering || why != null then null
      else
        why = because
        cancel
    }
    if cancelTask != null then cancelTask()

  /** Marks the end of the handler. Returns false if the task is being cancelled. */
  def mayAnswer(): Boolean = synchronized {
    isAnswering = true
    why == null
  }
