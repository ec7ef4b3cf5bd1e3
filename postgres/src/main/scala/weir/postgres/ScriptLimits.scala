package weir.postgres

/** The limits of the memory that splitting a script needs.
  *
  * @param maxStatementBytes
  *   the longest statement. The data of a COPY is never collected, so its rows may be of any
  *   length.
  */
final case class ScriptLimits(maxStatementBytes: Int = 16 * 1024 * 1024):
  require(
    maxStatementBytes >= 1 && maxStatementBytes <= ScriptLimits.most,
    s"ScriptLimits: maxStatementBytes was $maxStatementBytes. " +
      s"It must be from 1 to ${ScriptLimits.most}."
  )

object ScriptLimits:
  private val most = 1 << 30
  val default: ScriptLimits = ScriptLimits()
