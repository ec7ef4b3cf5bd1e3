package weir.fiber

/** Adds lines of the user's code to the stack trace of an error that passes through fibers.
  *
  * `weir.trace` knows how to read a fiber's stack and implements this trait; `WeirRuntime` holds
  * the implementation. It is called only on failures.
  */
private[weir] trait ErrorTraces:

  /** Must be called by `fiber` with its stack as it was when `error` was thrown. `at` is the
    * instruction that was running.
    */
  def add(error: Throwable, fiber: TaskFiber, at: AnyRef | Null): Unit

  /** Must be called while `fiber` waits for an error of `from`, or by `fiber` itself. `from` is
    * null if it is not known.
    */
  def pass(error: Throwable, fiber: TaskFiber | Null, from: FiberCore | Null): Unit
