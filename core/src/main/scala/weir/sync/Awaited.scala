package weir.sync

import weir.kernel.RunLoop

/** What fibers may wait for, as a fiber dump tells it. Every primitive is one, and is the lock of its wait lists. */
private[weir] trait Awaited:

  /** What it is and why one waits, such as `Queue.bounded(4), which is full`. Called from any thread, at any time; takes no lock. */
  def awaitedAs: String

  /** The fibers that must act before the wait can end, where that is known: who holds a permit, who is joined. */
  def holders: Iterator[RunLoop] = Iterator.empty
