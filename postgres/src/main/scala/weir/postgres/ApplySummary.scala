package weir.postgres

import scala.concurrent.duration.FiniteDuration

/** The result of applying scripts.
  *
  * @param statements
  *   the number of statements that have run without an error; a COPY with its data counts as one
  * @param rows
  *   the number of rows that they have selected, inserted, updated, deleted or copied
  * @param errors
  *   the number of errors after which the run continued, because of `OnError.Continue`
  * @param sizeBytes
  *   the size of the scripts
  * @param parallelCopies
  *   the number of COPYs that went over several connections
  * @param singleCopies
  *   the number of COPYs that went over one connection although several were allowed and there was
  *   enough data, by the reason
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

/** One of the slowest statements.
  *
  * @param firstLine
  *   the first line of the statement, at most 200 characters, without secrets
  */
final case class SlowStatement(
    script: String,
    position: Position,
    firstLine: String,
    time: FiniteDuration
)
