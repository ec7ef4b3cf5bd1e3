package weir.postgres

import scala.concurrent.duration.FiniteDuration

/** The result of applying scripts.
  *
  * @param statements
  *   that have run without an error, each COPY with its data being one
  * @param rows
  *   that they have selected, inserted, updated, deleted, copied
  * @param errors
  *   that `OnError.Continue` went on after
  * @param sizeBytes
  *   of the scripts
  * @param parallelCopies
  *   the number of COPYs that went over several connections
  * @param singleCopies
  *   the number of went that over one connection although several were allowed and there was enough
  *   data, by the reason
  */
final case class ApplySummary(
    statements: Long,
    rows: Long,
    errors: Long,
    sizeBytes: Long,
    time: FiniteDuration,
    slowest: List[SlowStatement],
    parallelCopies: Long = 0,
    singleCopies: Map[String, Long] = Map.empty
)

/** One of the statements that took longest.
  *
  * @param firstLine
  *   of the statement, at most 200 characters, without what is secret in it
  */
final case class SlowStatement(
    script: String,
    position: Position,
    firstLine: String,
    time: FiniteDuration
)
