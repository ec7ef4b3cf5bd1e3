package weir.fiber

import java.lang.invoke.MethodHandles

/** Links and initializes classes before they are used: those that override a method which is called
  * on an object that a lock has just handed out.
  *
  * README, "A JVM that calls the wrong method", has the reason. Each caller names its own classes.
  */
private[weir] object EagerlyLinked:
  def apply(classes: Class[?]*): Unit =
    val lookup = MethodHandles.lookup()
    classes.foreach(lookup.ensureInitialized)
