package weir.kafka.consumer

import java.util.concurrent.locks.ReentrantLock
import java.util.{ArrayDeque, HashMap, LinkedHashMap, List as JList}

/** The queue from the poll thread to a stream: elements, then the end or an error. The poll thread
  * never waits: it bounds the queue by pausing partitions.
  *
  * Elements of one lane come in their order, those of several lanes in turns. A fetch has some
  * thousand records of one partition, and only then those of the next. Without the turns, all
  * records that a stream looks at would have the few keys of one partition.
  */
private[kafka] final class FairQueue[A](laneOf: A => Any = FairQueue.one):
  private val lock = ReentrantLock()
  private val changed = lock.newCondition()

  // guarded by lock
  /** The lanes that have elements; the next one comes first. */
  private val lanes = LinkedHashMap[Any, ArrayDeque[A]]()

  /** The elements of the lanes that are held: they are not handed out. */
  private val held = HashMap[Any, ArrayDeque[A]]()
  private var isEnded = false
  private var error: Throwable | Null = null

  def offer(value: A): Unit = locked:
    add(value)
    changed.signal()

  /** As one: who waits is woken once. */
  def offerAll(values: JList[A]): Unit = locked:
    values.forEach(add(_))
    changed.signalAll()

  /** After the end nothing is added. */
  private def add(value: A): Unit =
    if !isEnded then
      val lane = laneOf(value)
      val waiting = held.get(lane)
      if waiting != null then waiting.add(value): Unit
      else lanes.computeIfAbsent(lane, _ => ArrayDeque[A]()).add(value): Unit

  /** Hands out no more of a lane, until `letGo`. An end does not wait for it. */
  def hold(lane: Any): Unit = locked:
    if !held.containsKey(lane) then
      val waiting = lanes.remove(lane)
      held.put(lane, if waiting == null then ArrayDeque[A]() else waiting): Unit

  def letGo(lane: Any): Unit = locked:
    val waiting = held.remove(lane)
    if waiting != null && !waiting.isEmpty then
      lanes.put(lane, waiting)
      changed.signal()

  def end(): Unit = endWith(null)

  def fail(error: Throwable): Unit = endWith(error)

  /** Fails in the place of what is left of a lane: drops that. The elements of the other lanes come
    * before the error. A later error is suppressed under the first one.
    */
  def failInPlace(lane: Any, cause: Throwable): Unit = locked:
    lanes.remove(lane)
    held.remove(lane)
    val first = error
    if !isEnded then endWith(cause)
    else if first != null && first != cause then first.addSuppressed(cause)

  private def endWith(cause: Throwable | Null): Unit = locked:
    if !isEnded then
      isEnded = true
      error = cause
      changed.signal()

  /** Returns the next element, or null at the end. **Waits** for it; an interrupt ends the wait.
    * **Fails** with the error, as often as it is called.
    */
  def take(): A | Null = locked:
    while lanes.isEmpty && !isEnded do changed.await()
    val next = lanes.pollFirstEntry()
    if next != null then
      val (lane, elements) = (next.getKey, next.getValue)
      val value = elements.remove()
      if !elements.isEmpty then lanes.put(lane, elements): Unit
      value
    else if error == null then null
    else throw error.nn

  private def locked[R](body: => R): R =
    lock.lock()
    try body
    finally lock.unlock()

private[kafka] object FairQueue:
  private val one: Any => Any = _ => ()
