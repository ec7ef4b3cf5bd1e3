package weir.cli.sql.run

import java.lang.management.ManagementFactory
import scala.concurrent.duration.*

/** When the first byte was read, and how long ago that is: the start of the JVM is no part of a
  * run.
  */
final class RunClock:
  // shared: 0 before the first byte
  @volatile private var firstNanos, firstMillis = 0L

  /** To be called whenever something is read. */
  def read(): Unit = if firstNanos == 0 then
    firstMillis = System.currentTimeMillis()
    firstNanos = System.nanoTime()

  def elapsed: FiniteDuration =
    if firstNanos == 0 then Duration.Zero else (System.nanoTime() - firstNanos).nanos

  /** From the start of the JVM; none if nothing has been read. */
  def millisToFirstByte: Option[Long] =
    Option.when(firstNanos != 0)(firstMillis - ManagementFactory.getRuntimeMXBean.getStartTime)
