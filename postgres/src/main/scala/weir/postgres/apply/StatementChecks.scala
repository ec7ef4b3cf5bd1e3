package weir.postgres.apply

import java.nio.charset.Charset
import weir.postgres.*
import weir.postgres.split.Reading

/** Decides if a statement may be sent, by the settings of the session: they may have changed since
  * the reader took its bytes for a statement.
  */
private[apply] final class StatementChecks(session: Session, options: ApplyOptions):
  private val encodings = Encodings.Latest()

  // of the session, as of the exchange or the statement that runs
  private var encoding = Encodings.Known("UTF8")
  private var reading = Reading.standard

  /** Returns the charset of the session. */
  def charset: Charset = encoding.charset

  /** Returns true if `checkReading` would fail. */
  def isReadOtherwise(statement: Piece.Statement): Boolean = !statement.reading.endsAs(reading)

  /** Looks at the settings that decide how statements are read. */
  def look(): Unit =
    encoding = encodings.of(session.encoding)
    reading = Reading.of(encoding.name, session.hasStandardStrings)

  /** Returns the reason why the statement cannot be sent; null if there is none. */
  def refusal(script: String, statement: Piece.Statement): ScriptException | Null =
    val ends = if options.singleTransaction then TransactionEnd.of(statement) else null
    if ends ne null then transactionEnd(script, statement, ends)
    else
      val problem = encoding.problem
      if problem ne null then
        ScriptException(script, Some(statement.start), problem, hint = Some(Encodings.hint))
      else
        val isLeft = encoding.isUnchecked || !statement.isWhole // to the server
        val at = if isLeft then -1 else Encodings.firstInvalid(statement.text, encoding.charset)
        if at >= 0 then invalid(script, statement, at) else null

  private def transactionEnd(script: String, statement: Piece.Statement, word: String) =
    ScriptException(
      script,
      Some(statement.start),
      s"$word in a script that is to be a single transaction",
      hint = Some("Take it out of the script, or apply the script without --single-transaction.")
    )

  private def invalid(script: String, statement: Piece.Statement, at: Int) = ScriptException(
    script,
    Some(statement.positionOfByte(at)),
    f"the byte 0x${statement.text(at) & 0xff}%02x is not valid ${encoding.name}",
    hint = Some("If the script is in another encoding, begin it with SET client_encoding = '…'.")
  )

  /** **Fails** if a piece that begins at `at` was read by other settings than the session has. The
    * run ends then, also one that goes on after errors: the reader may have taken a part of a
    * string for a statement, or a statement for a part of a string.
    */
  def checkReading(script: String, read: Reading, at: Position): Unit =
    if read.standardStrings != reading.standardStrings then
      val state = if reading.standardStrings then "on" else "off"
      throw readOtherwise(script, at, "standard_conforming_strings", state)
    else if read.characters != reading.characters then
      throw readOtherwise(script, at, "client_encoding", encoding.name)

  private def readOtherwise(script: String, at: Position, setting: String, value: String) =
    ScriptException(
      script,
      Some(at),
      s"$setting is $value in this session, which no statement of the script shows",
      hint = Some(
        "A function has changed it, and strings would end elsewhere. Write SET " +
          s"$setting = '$value' behind the statement that calls it."
      )
    )
