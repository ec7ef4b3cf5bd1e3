package weir.metrics

import java.util.concurrent.ConcurrentSkipListMap
import java.util.concurrent.atomic.AtomicLong
import scala.jdk.CollectionConverters.*

/** Values that are there until they are taken away, in the order in which they were added. */
private[metrics] final class Registry[A]:
  private val values = ConcurrentSkipListMap[Long, A]()
  private val numbers = AtomicLong()

  /** Adds `value`, until the result is closed. */
  def add(value: A): AutoCloseable =
    val number = numbers.incrementAndGet()
    values.put(number, value): Unit
    () => values.remove(number): Unit

  /** Takes away the values for which `isGone` is true. */
  def prune(isGone: A => Boolean): Unit = values.values.removeIf(isGone(_)): Unit

  def all: Vector[A] = values.values.asScala.toVector
