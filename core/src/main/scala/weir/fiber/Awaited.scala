package weir.fiber

/** An object that fibers wait for, as a fiber dump shows it. Every primitive is one, and is the
  * lock of its wait lists.
  */
private[weir] trait Awaited:

  /** Returns a text that says what it is and why a fiber waits, such as
    * `Queue.bounded(4), which is full`. Called from any thread, at any time; takes no lock.
    */
  private[weir] def awaitedAs: String

  /** Returns the fibers that must act before the wait can end, if they are known: the holder of a
    * permit, the fiber that is joined.
    */
  private[weir] def holders: Iterator[TaskFiber] = Iterator.empty
