package weir.postgres.apply

import java.nio.charset.Charset
import weir.postgres.Piece
import weir.postgres.split.{Tokens, WordScan}

/** The values of settings that a script has set, which messages about later statements may quote.
  */
private[postgres] final class KnownSecrets:
  private var values = Set.empty[String]

  /** Returns the values with the quotes that servers put around them: without quotes a value may be
    * a common word.
    */
  def known: Set[String] = values

  /** Adds the value in a SET. */
  def add(statement: Piece.Statement, charset: Charset): Unit =
    if values.size < KnownSecrets.Most && KnownSecrets.isSet(statement.text) then
      values ++= Placing
        .secretsOf(statement, charset)
        .flatMap(value => List(s"\"$value\"", s"«$value»", s"'$value'"))

private object KnownSecrets:
  private val Most = 1000

  private def isSet(text: Array[Byte]): Boolean =
    mayBeSet(text) && Tokens.parts(text).exists(Tokens.leading(_, 1) == List("SET"))

  /** Returns false if the text is one statement, and begins with another letter. */
  private def mayBeSet(text: Array[Byte]): Boolean =
    val first = if text.isEmpty then 0 else text(0) | 0x20
    first < 'a' || first > 'z' || first == 's' || WordScan.indexOf(text, ';') >= 0
