package weir

import weir.fiber.{Locals, RunsUserCode, Suspend, TaskFiber, Uncancelable}
import weir.runtime.ExecutionThread
import weir.task.Guarantee

/** A variable of which every fiber has a value of its own.
  *
  * A fiber begins with the values that its parent has at the time of the fork. So do the children
  * of `parTraverse`, `race`, `timeout`, the fibers of streams, and what `runSync` runs inside of a
  * task. Other fibers do not see what a fiber sets, not even its parent.
  */
final class TaskLocal[A] private (default: A):

  /** The fiber's value. */
  val get: Task[A] = new Suspend[A]:
    def begin(fiber: TaskFiber): Any = valueIn(fiber)

  /** Replaces the fiber's value. */
  def set(value: A): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = put(fiber, TaskLocal.Held(value))

  /** Replaces the fiber's value by `f` of it. */
  def update(f: A => A): Task[Unit] = new Suspend[Unit] with RunsUserCode:
    def begin(fiber: TaskFiber): Any = put(fiber, TaskLocal.Held(f(valueIn(fiber))))

  /** The fiber's value so far, which `value` replaces. */
  def getAndSet(value: A): Task[A] = new Suspend[A]:
    def begin(fiber: TaskFiber): Any =
      val before = valueIn(fiber)
      put(fiber, TaskLocal.Held(value))
      before

  /** The second part of `f` of the fiber's value, whose first part becomes the new value. */
  def modify[B](f: A => (A, B)): Task[B] = new Suspend[B] with RunsUserCode:
    def begin(fiber: TaskFiber): Any =
      val (value, result) = f(valueIn(fiber))
      put(fiber, TaskLocal.Held(value))
      result

  /** What `task` returns, run with `value`. However it ends, the fiber then has its former value
    * again.
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

  /** The value of the fiber whose code runs on this thread, for plain code such as a logger's;
    * elsewhere the default.
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
  /** A value that was set, which may be null: so it differs from none. */
  private final class Held(val value: Any)

  /** A new local, whose value is `default` in every fiber until it is set there. */
  def make[A](default: A): Task[TaskLocal[A]] = Task.delay(unsafe(default))

  /** A new local, made at once, for use outside of tasks. */
  def unsafe[A](default: A): TaskLocal[A] = new TaskLocal[A](default)
