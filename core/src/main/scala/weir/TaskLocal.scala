package weir

import weir.fiber.{Locals, RunsUserCode, Suspend, TaskFiber, Uncancelable}
import weir.runtime.ExecutionThread
import weir.task.Guarantee

/** A variable that has a separate value in each fiber.
  *
  * A fiber begins with the values that its parent has when it starts the fiber. The same holds for
  * the children of `parTraverse`, `race` and `timeout`, for the fibers of streams, and for the
  * tasks that `runSync` runs inside of a task. No other fiber sees the values that a fiber sets,
  * not even its parent.
  */
final class TaskLocal[A] private (default: A):

  /** Returns the fiber's value. */
  val get: Task[A] = new Suspend[A]:
    def begin(fiber: TaskFiber): Any = valueIn(fiber)

  /** Sets the fiber's value. */
  def set(value: A): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = put(fiber, TaskLocal.Held(value))

  /** Sets the fiber's value to the result of `f` for it. */
  def update(f: A => A): Task[Unit] = new Suspend[Unit] with RunsUserCode:
    def begin(fiber: TaskFiber): Any = put(fiber, TaskLocal.Held(f(valueIn(fiber))))

  /** Sets the fiber's value and returns the previous value. */
  def getAndSet(value: A): Task[A] = new Suspend[A]:
    def begin(fiber: TaskFiber): Any =
      val before = valueIn(fiber)
      put(fiber, TaskLocal.Held(value))
      before

  /** Calls `f` with the fiber's value. Sets that to the first part of the result, and returns the
    * second part.
    */
  def modify[B](f: A => (A, B)): Task[B] = new Suspend[B] with RunsUserCode:
    def begin(fiber: TaskFiber): Any =
      val (value, result) = f(valueIn(fiber))
      put(fiber, TaskLocal.Held(value))
      result

  /** Runs `task` with the given value and returns its result. However `task` ends, the fiber then
    * has its former value again.
    */
  def locally[B](value: A)(task: Task[B]): Task[B] =
    val enter = new Suspend[TaskLocal.Held | Null]:
      def begin(fiber: TaskFiber): Any =
        val before = heldIn(fiber)
        put(fiber, TaskLocal.Held(value))
        before
    Uncancelable(poll =>
      enter.flatMap(before =>
        val leave = new Suspend[Unit]:
          def begin(fiber: TaskFiber): Any = put(fiber, before)
        Guarantee(poll(task), _ => leave)
      )
    )

  /** Returns the value of the fiber whose code runs on this thread, or the default if the thread
    * runs no fiber. It is for plain code such as a logger's.
    */
  def current: A =
    val here = ExecutionThread.here
    if here eq null then default
    else
      here.running match
        case fiber: TaskFiber => valueIn(fiber)
        case _ => default

  private def valueIn(fiber: TaskFiber): A =
    val held = heldIn(fiber)
    if held eq null then default else held.value.asInstanceOf[A]

  private def heldIn(fiber: TaskFiber): TaskLocal.Held | Null =
    Locals.valueIn(fiber.locals, this, null).asInstanceOf[TaskLocal.Held | Null]

  private def put(fiber: TaskFiber, held: TaskLocal.Held | Null): Unit =
    fiber.locals = Locals.updated(fiber.locals, this, held)

object TaskLocal:
  /** A value that was set. It may be null, so a wrapper distinguishes it from no value. */
  private final class Held(val value: Any)

  /** Returns a new local, whose value is `default` in every fiber until it is set there. */
  def of[A](default: A): Task[TaskLocal[A]] = Task.delay(unsafe(default))

  /** As `of`, but makes the local at once, for use outside of tasks. */
  def unsafe[A](default: A): TaskLocal[A] = new TaskLocal[A](default)
