package weir.stream

import java.lang.ref.WeakReference
import java.util.concurrent.atomic.AtomicReference

/** Refuses what a stream was given in an earlier run: an iterator or an input can be read once, and
  * a second run would be empty without a word. It does not keep what it was given from being
  * collected.
  *
  * @param what
  *   which method, and what it was given
  */
private[weir] final class SingleUse(what: String) extends AtomicReference[WeakReference[Any]]:
  /** `made`, unless the run before was given it. */
  def checked[A](made: A): A =
    val before = getAndSet(WeakReference(made)) // pairs with the other runs' getAndSet
    if (before ne null) && made == before.get then
      throw IllegalStateException(
        s"$what is the one of an earlier run, which has taken what it had. Make a new one for " +
          "each run: the argument is evaluated each time."
      )
    made
