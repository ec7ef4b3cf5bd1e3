package weir.postgres

/** The limits of the statements of a script. The data of a COPY has none: it is never collected.
  *
  * @param maxStatementBytes
  *   the longest statement. A lower limit finds a missing quote earlier.
  * @param memoryBytes
  *   the longest statement that is kept in memory. A longer one is in a temporary file from when it
  *   is read until it has been sent.
  */
final case class ScriptLimits(
    maxStatementBytes: Int = ScriptLimits.most,
    memoryBytes: Int = 1024 * 1024
):
  require(
    maxStatementBytes >= 1 && maxStatementBytes <= ScriptLimits.most,
    s"ScriptLimits: maxStatementBytes was $maxStatementBytes. " +
      s"It must be from 1 to ${ScriptLimits.most}."
  )
  require(
    memoryBytes >= 1 && memoryBytes <= ScriptLimits.most,
    s"ScriptLimits: memoryBytes was $memoryBytes. It must be from 1 to ${ScriptLimits.most}."
  )

object ScriptLimits:
  /** The longest statement that a server takes: a gigabyte, less what goes around it. */
  val most: Int = (1 << 30) - 7

  val default: ScriptLimits = ScriptLimits()
