package weir

/** Starts threads as a system does that has none to spare for the first one. */
final class RefusesFirst extends (Thread => Unit):
  @volatile var asked = 0

  def apply(thread: Thread): Unit =
    asked += 1
    if asked == 1 then throw OutOfMemoryError("unable to create native thread")
    else thread.start()
