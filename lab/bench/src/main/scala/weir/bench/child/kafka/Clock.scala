package weir.bench.child.kafka

import com.sun.management.OperatingSystemMXBean
import java.lang.management.ManagementFactory
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.LongAdder

/** Measures the time from the first record to the last, and the processor time of this JVM between
  * them. It counts the records and their bytes.
  */
final class Clock(records: Int):
  private val start = java.util.concurrent.atomic.AtomicLong(0)
  private val bytes = LongAdder()
  private val end = CountDownLatch(1)
  private val system = ManagementFactory.getPlatformMXBean(classOf[OperatingSystemMXBean])
  @volatile private var nanos = 0L
  @volatile private var processorNanos = 0L

  def begin(): Unit =
    if start.get == 0 && start.compareAndSet(0, System.nanoTime()) then
      processorNanos = -system.getProcessCpuTime

  /** For readers that read one record after the other. */
  def ended(count: Long, bytes: Long): Unit =
    if count != records || bytes < 100L * count then
      throw IllegalStateException(s"$count records were read with $bytes bytes, not $records")
    nanos = System.nanoTime() - start.get
    processorNanos += system.getProcessCpuTime
    end.countDown()

  private val left = java.util.concurrent.atomic.AtomicInteger(records)

  /** For readers with many at a time. */
  def done(length: Int): Unit =
    bytes.add(length)
    if left.decrementAndGet() == 0 then ended(records, bytes.sum)

  def isOver: Boolean = end.getCount == 0
  def await(): Unit = end.await()
  def seconds: Double = nanos / 1e9
  def processorNanosOfEach: Double = processorNanos / records.toDouble
