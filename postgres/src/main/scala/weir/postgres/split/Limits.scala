package weir.postgres.split

/** How much the splitter collects.
  *
  * @param maxStatementBytes
  *   the longest statement. The data of a COPY is never collected, so its rows may be of any
  *   length.
  */
final case class Limits(maxStatementBytes: Int = 16 * 1024 * 1024):
  require(
    maxStatementBytes >= 1 && maxStatementBytes <= Limits.most,
    s"Limits: maxStatementBytes was $maxStatementBytes. It must be from 1 to ${Limits.most}."
  )

object Limits:
  private val most = 1 << 30
  val default: Limits = Limits()
