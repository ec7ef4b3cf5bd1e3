package weir.stream

import java.lang.ref.WeakReference
import java.util.concurrent.atomic.AtomicReference

/** Refuses an iterator or an input that the run before was given. It can be read only once, so the
  * second run would be empty without an error. The reference is weak, so that it can be collected.
  *
  * @param what the method and its argument, for the message
  */
private[weir] final class SingleUse(what: String) extends AtomicReference[WeakReference[Any]]:
  /** Returns `made`. **Fails** if the run before was given the same. */
  def checked[A](made: A): A =
    val before = getAndSet(WeakReference(made)) // pairs with the other runs' getAndSet
    if (before ne null) && made == before.get then
      throw IllegalStateException(
        s"$what was read by an earlier run. Pass an expression that makes a new one: it is " +
          "evaluated at each run."
      )
    made
