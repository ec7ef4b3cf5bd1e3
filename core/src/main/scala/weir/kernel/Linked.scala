package weir.kernel

import java.lang.invoke.MethodHandles
import weir.task.GroupWaiter

/** Links classes early that override what is called on an object which a lock has just handed out: README, "A JVM that calls the
  * wrong method".
  */
private[weir] object Linked:
  def apply(classes: Class[?]*): Unit =
    val lookup = MethodHandles.lookup()
    classes.foreach(lookup.ensureInitialized)

  /** Those of the kernel. To be called before any fiber runs. */
  def waiters(): Unit = Linked(classOf[CallbackJoin], classOf[GroupWaiter])
