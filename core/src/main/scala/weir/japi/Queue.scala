package weir.japi

import java.util.{List as JavaList, Objects, Optional}
import scala.jdk.CollectionConverters.*
import scala.jdk.OptionConverters.*
import weir.Queue as ScalaQueue

/** A queue between fibers. A waiting fiber blocks no thread. It holds no nulls, as the queues of
  * `java.util.concurrent`: the methods that add values **fail** with a `NullPointerException`.
  */
final class Queue[A] private (underlying: ScalaQueue[A]):
  import Queue.notNull

  /** Adds `value`. **Waits** while the queue is full. **Cancelled**: the value is not added. */
  def offer(value: A): Task[Void] = Task.ofUnit(
    weir.Task.defer(underlying.offer(notNull(value)))
  )

  /** Adds `value` and returns true if there is room; returns false otherwise. */
  def tryOffer(value: A): Task[java.lang.Boolean] = Task(
    weir.Task.defer(underlying.tryOffer(notNull(value))).map(Boolean.box)
  )

  /** Adds all `values`, in their order. **Waits** for room for each. */
  def offerAll(values: java.lang.Iterable[? <: A]): Task[Void] =
    Task.ofUnit(weir.Task.defer(underlying.offerAll(values.asScala.toVector.map(notNull))))

  /** Takes the first value. **Waits** for one. **Cancelled**: no value is taken. */
  def take(): Task[A] = Task(underlying.take)

  /** Takes the first value, if there is one. */
  def tryTake(): Task[Optional[A]] = Task(underlying.tryTake.map(_.toJava))

  /** Takes `min` to `max` values: as many as there are, and waits for `min`. */
  def takeBetween(min: Int, max: Int): Task[JavaList[A]] =
    Task(underlying.takeBetween(min, max).map(_.asJava))

  /** Returns the number of values in the queue. */
  def size(): Task[Integer] = Task(underlying.size.map(Int.box))

  /** Names this queue, for `WeirRuntime.metrics`. Returns this queue. */
  def named(name: String): Queue[A] =
    underlying.named(name): Unit
    this

  /** Returns the queue of Weir's Scala API. */
  def asScala: ScalaQueue[A] = underlying

object Queue:
  /** Makes a queue of at most `capacity` values. **Fails** with an `IllegalArgumentException` if
    * `capacity` is below 1.
    */
  def bounded[A](capacity: Int): Queue[A] = made(ScalaQueue.bounded(capacity))

  /** Makes a queue without a bound: if it is filled faster than it is emptied, memory runs out. */
  def unbounded[A](): Queue[A] = made(ScalaQueue.unbounded)

  /** Makes a queue that drops a new value when it is full. */
  def dropping[A](capacity: Int): Queue[A] = made(ScalaQueue.dropping(capacity))

  /** Makes a queue that drops its oldest value when it is full. */
  def sliding[A](capacity: Int): Queue[A] = made(ScalaQueue.sliding(capacity))

  /** Makes a queue whose `offer` waits until its value is taken. */
  def synchronous[A](): Queue[A] = made(ScalaQueue.synchronous)

  /** Returns `value`. **Throws** a `NullPointerException` if it is null: an `Optional` could not
    * tell a null that was taken from nothing.
    */
  private[japi] def notNull[A](value: A): A =
    Objects.requireNonNull(value, "queues and channels hold no nulls")

  private def made[A](queue: weir.Task[ScalaQueue[A]]): Queue[A] = new Queue(queue.runSync())
