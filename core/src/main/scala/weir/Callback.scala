package weir

import java.lang.invoke.{MethodHandles, VarHandle}
import scala.annotation.static
import weir.fiber.{Suspend, TaskFiber, Waiter}

/** A callback that is called once, from anywhere, and the task that waits for that call. It is for
  * code that has to register a callback first and wait for it later, with steps in between. If the
  * wait follows at once, use `Task.async` and its variants.
  *
  *   - **First wait**: `first` is made by the fiber that makes the callback, and is that fiber's
  *     wait for it. So the usual wait costs the same as a `Waiter`: one CAS of the fiber and one of
  *     the caller.
  *   - **Relay**: a waiter serves one wait of one fiber. `relay` is for the rare cases: the wait of
  *     another fiber, or a further wait of the same fiber after a cancel has ended the first.
  *
  * {{{
  * null --another wait--> Waiter --the call--> Called
  *   |                      |  +--another wait, once that one has ended--> Waiter
  *   +------the call, after a cancel of the first wait-------> Called
  * }}}
  *
  *   - **The race that we fear**: the call ends the first wait, and does not see a relay that
  *     registers meanwhile. The caller moves the state of `first`, then reads `relay`. A fiber that
  *     waits writes `relay`, then reads the state of `first`. At least one of them sees the other.
  *     If both do, the CAS in the relay's own waiter decides.
  *   - Once a cancel has ended the first wait, its state has no meaning any more, and `relay` alone
  *     decides, by CAS: the first call moves it to `Called`.
  */
final class Callback[A] private (first: Waiter) extends (Either[Throwable, A] => Unit):
  import Callback.*

  // shared
  @volatile private[weir] var relay: AnyRef | Null = null

  /** Ends the wait with a value or an error. Calls after the first are ignored. Never waits, and
    * may be called from any thread.
    */
  def apply(result: Either[Throwable, A]): Unit =
    if end(first, result) then
      relay match
        case waiter: Waiter => end(waiter, result): Unit
        case _ => ()
    else if first.isCanceled then relayCall(result)

  private def relayCall(result: Either[Throwable, A]): Unit =
    val before = relay
    if !before.isInstanceOf[Called] then
      if Relay.compareAndSet(this, before, Called(result)) then
        before match
          case waiter: Waiter => end(waiter, result): Unit
          case _ => ()
      else relayCall(result)

  /** Returns the value that the callback is called with.
    *
    * **Waits** until the callback is called. **Cancelled** while it waits: stops waiting and loses
    * nothing, so it may be run again. **Fails** with the error that the callback is called with.
    * Fails with an `IllegalStateException` if another fiber waits for the callback already.
    * {{{
    * val answer = Callback[String].flatMap { callback =>
    *   Task(request(callback)) >> Task(log("asked")) >> callback.get
    * }
    * }}}
    */
  def get: Task[A] = new Suspend[A]:
    def begin(fiber: TaskFiber): Any =
      if (fiber eq first.fiber) && !first.isCanceled then first.resultOrSelf
      else another(fiber)

  private def another(fiber: TaskFiber): Any = relay match
    case called: Called => ended(fiber, called.result)
    case waiter: Waiter if waiter.isOpen =>
      throw IllegalStateException(
        "Callback.get: another fiber already waits for this callback. Only one fiber at a time " +
          "can wait for it. For several, complete a Deferred in the callback."
      )
    case before =>
      val waiter = Waiter(fiber)
      if !Relay.compareAndSet(this, before, waiter) then another(fiber)
      else
        if first.hasResult then end(waiter, first.result): Unit // pairs with the order in apply
        waiter

  private def ended(fiber: TaskFiber, result: Either[Throwable, Any]): Waiter =
    val waiter = Waiter(fiber)
    end(waiter, result): Unit
    waiter

object Callback:
  /** Returns a new callback, for the fiber that runs this task. */
  def apply[A]: Task[Callback[A]] = new Suspend[Callback[A]]:
    def begin(fiber: TaskFiber): Any =
      val waiter = Waiter(fiber)
      fiber.runtime.waitsOutside(waiter)
      new Callback[A](waiter)

  @static private val Relay: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Callback[?]], "relay", classOf[AnyRef])

  private final class Called(val result: Either[Throwable, Any])

  /** Ends the wait. Returns false if the wait had ended before. */
  private def end(waiter: Waiter, result: Either[Throwable, Any]): Boolean = result match
    case Right(value) => waiter.complete(value)
    case Left(error) => waiter.fail(error)
