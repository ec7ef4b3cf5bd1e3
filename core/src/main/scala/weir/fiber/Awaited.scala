package weir.fiber

/** Something that fibers wait for, as a fiber dump shows it. Every primitive is one, and is the
  * lock of its wait lists.
  */
private[weir] trait Awaited:

  /** What it is and why a fiber waits, such as `Queue.bounded(4), which is full`. Called from any
    * thread, at any time; takes no lock.
    */
  private[weir] def awaitedAs: String

  /** The fibers that must act before the wait can end, where that is known: the holder of a permit,
    * the fiber that is joined.
    */
  private[weir] def holders: Iterator[TaskFiber] = Iterator.empty
