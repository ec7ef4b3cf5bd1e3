package weir.japi

import weir.TaskLocal as ScalaTaskLocal

/** A variable that has a separate value in each fiber, such as the id of a request. A fiber begins
  * with the value of the fiber that has started it.
  */
final class TaskLocal[A] private (underlying: ScalaTaskLocal[A]):

  /** Returns the value of the fiber. */
  def get(): Task[A] = Task(underlying.get)

  /** Sets the value of the fiber. */
  def set(value: A): Task[Void] = Task.ofUnit(underlying.set(value))

  /** Runs `task` with `value`, and sets the previous value again when the task has ended. */
  def locally[B](value: A, task: Task[B]): Task[B] = Task(underlying.locally(value)(task.asScala))

  /** Returns the value of the fiber that the calling thread runs, for plain code in a task; the
    * default value outside of any task.
    */
  def current(): A = underlying.current

  /** Returns the variable of Weir's Scala API. */
  def asScala: ScalaTaskLocal[A] = underlying

object TaskLocal:
  /** Makes a variable with a default value. */
  def of[A](value: A): TaskLocal[A] = new TaskLocal(ScalaTaskLocal.unsafe(value))
