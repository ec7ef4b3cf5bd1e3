package weir.japi

import java.util.WeakHashMap
import weir.{Task as ScalaTask, WeirRuntime}

/** A value that has the clock of its runtime, such as a limiter: one for each runtime whose tasks
  * use it. A class in Java makes such a value in a field, outside of any task, and each test then
  * uses it in a runtime with another clock.
  */
private[japi] final class OnEachRuntime[A](make: WeirRuntime => A):
  private val home = WeirRuntime.current

  /** The value of the runtime in which this object was made: outside of tests, of the only one. */
  val atHome: A = make(home)

  // under this object's lock
  private val elsewhere = WeakHashMap[WeirRuntime, A]()

  /** Returns the task that `use` returns for the value of the runtime that runs it. */
  def apply[B](use: A => ScalaTask[B]): Task[B] = Task(ScalaTask.onRuntime(on).flatMap(use))

  private def on(runtime: WeirRuntime): A =
    if runtime eq home then atHome else synchronized(elsewhere.computeIfAbsent(runtime, make(_)))
