package weir

/** The parameter of the body of `Task.uncancelable`: it removes the mask for one task. */
trait Poll:
  /** Returns `task`, which may be cancelled if the fiber could be cancelled outside of the
    * `uncancelable` that made this poll. In another fiber, or inside of a further `uncancelable`,
    * returns `task` unchanged.
    */
  def apply[A](task: Task[A]): Task[A]
