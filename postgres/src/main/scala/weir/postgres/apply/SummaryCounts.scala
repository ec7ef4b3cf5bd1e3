package weir.postgres.apply

import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.mutable
import scala.concurrent.duration.DurationLong
import weir.postgres.{ApplySummary, Done, Piece, Secrets, SlowStatement}

/** Counts statements, rows, errors and bytes for the summary. */
private[postgres] final class SummaryCounts(slowest: Int):
  private val begunNanos = System.nanoTime()
  private var statements = 0L
  private var rows = 0L
  private var errors = 0L
  private var bytes = 0L
  // The quickest, which is dropped first, is at the head.
  private val slow =
    mutable.PriorityQueue.empty(using Ordering.by[SlowStatement, Long](-_.time.toNanos))

  def add(script: String, statement: Piece.Statement, done: Done, nanos: Long): Unit =
    statements += 1
    rows += done.rows
    if slow.size < slowest || slow.nonEmpty && slow.head.time.toNanos < nanos then
      slow.enqueue(SlowStatement(script, statement.start, firstLine(statement), nanos.nanos))
      if slow.size > slowest then slow.dequeue(): Unit

  def addError(): Unit = errors += 1
  def addBytes(count: Long): Unit = bytes += count

  def summary: ApplySummary = ApplySummary(
    statements,
    rows,
    errors,
    bytes,
    (System.nanoTime() - begunNanos).nanos,
    slow.clone().dequeueAll.reverse.toList
  )

  private def firstLine(statement: Piece.Statement): String =
    val text = String(statement.text, 0, math.min(statement.text.length, 800), UTF_8)
    Secrets.mask(text).linesIterator.nextOption().getOrElse("").take(200)
