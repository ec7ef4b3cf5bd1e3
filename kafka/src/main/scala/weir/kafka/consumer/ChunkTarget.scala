package weir.kafka.consumer

import java.util.List as JList

/** The target of the chunks that a poll thread reads. Only that thread calls its methods. */
private[kafka] trait ChunkTarget:
  def added(assignment: Assignment): Unit

  /** Adds the chunks of one poll. */
  def offer(chunks: JList[Chunk]): Unit

  /** Hands out no more of its chunks, until `letGo`. */
  def hold(assignment: Assignment): Unit
  def letGo(assignment: Assignment): Unit

  /** Called when no more chunks of the assignment come. */
  def removed(assignment: Assignment): Unit

  /** Called when no more chunks come: with an error, which belongs after those that have come, or
    * when the thread was asked to end. Only the first call counts.
    */
  def ended(error: Throwable | Null): Unit
