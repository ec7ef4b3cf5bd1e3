package weir

import weir.kernel.{Locals, RunLoop, Suspend, Uncancelable}
import weir.runtime.Host
import weir.task.Guarantee

/** A value that every fiber has for itself.
  *
  * A fiber begins with the values that its parent has in the moment of the fork, as do the children of `parTraverse`,
  * `race`, `timeout`, the fibers of streams, and what `runSync` runs inside of a task. What a fiber sets, others do not
  * see, its parent included.
  */
final class TaskLocal[A] private (default: A):

  /** The fiber's value. */
  val get: Task[A] = new Suspend[A]:
    def begin(fiber: RunLoop): Any = valueIn(fiber)

  /** Replaces the fiber's value. */
  def set(value: A): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any = put(fiber, TaskLocal.Held(value))

  /** Replaces the fiber's value by `f` of it. */
  def update(f: A => A): Task[Unit] = new Suspend[Unit]:
    def begin(fiber: RunLoop): Any = put(fiber, TaskLocal.Held(f(valueIn(fiber))))

  /** The fiber's value before, replaced by `value`. */
  def getAndSet(value: A): Task[A] = new Suspend[A]:
    def begin(fiber: RunLoop): Any =
      val before = valueIn(fiber)
      put(fiber, TaskLocal.Held(value))
      before

  /** The second part of `f` of the fiber's value, whose first part becomes the new value. */
  def modify[B](f: A => (A, B)): Task[B] = new Suspend[B]:
    def begin(fiber: RunLoop): Any =
      val (value, result) = f(valueIn(fiber))
      put(fiber, TaskLocal.Held(value))
      result

  /** What `task` returns, run with `value`; however it ends, the fiber has its value from before again. */
  def locally[B](value: A)(task: Task[B]): Task[B] =
    val enter = new Suspend[TaskLocal.Held | Null]:
      def begin(fiber: RunLoop): Any =
        val before = heldIn(fiber)
        put(fiber, TaskLocal.Held(value))
        before
    Uncancelable(poll =>
      enter.flatMap(before =>
        val leave = new Suspend[Unit]:
          def begin(fiber: RunLoop): Any = put(fiber, before)
        Guarantee(poll(task), _ => leave)
      )
    )

  /** The value of the fiber whose code runs on this thread, for plain code such as a logger's; elsewhere the default. */
  def current: A =
    val here = Host.here
    if here eq null then default
    else
      here.running match
        case fiber: RunLoop => valueIn(fiber)
        case _ => default

  private def valueIn(fiber: RunLoop): A =
    val held = heldIn(fiber)
    if held eq null then default else held.value.asInstanceOf[A]

  private def heldIn(fiber: RunLoop): TaskLocal.Held | Null =
    Locals.valueIn(fiber.locals, this, null).asInstanceOf[TaskLocal.Held | Null]

  private def put(fiber: RunLoop, held: TaskLocal.Held | Null): Unit =
    fiber.locals = Locals.updated(fiber.locals, this, held)

object TaskLocal:
  /** Tells a value that was set, which may be null, from none. */
  private final class Held(val value: Any)

  /** A new one, which every fiber sees as `default` until it is set. */
  def make[A](default: A): Task[TaskLocal[A]] = Task.delay(unsafe(default))

  /** A new one, made at once, for use outside of tasks. */
  def unsafe[A](default: A): TaskLocal[A] = new TaskLocal[A](default)
