package weir.postgres.apply

import weir.postgres.Piece

/** The values of settings that a script has set, which messages about later statements may quote.
  */
private[postgres] final class KnownSecrets:
  private var values = Set.empty[String]

  /** Returns the values with the quotes that servers put around them: without quotes a value may be
    * a common word.
    */
  def known: Set[String] = values

  /** Adds the value in a SET. Of other statements only the first letters are looked at. */
  def add(statement: Piece.Statement): Unit =
    if KnownSecrets.isSet(statement.text) && values.size < KnownSecrets.Most then
      values ++= Placing
        .secretsOf(statement)
        .flatMap(value => List(s"\"$value\"", s"«$value»", s"'$value'"))

private object KnownSecrets:
  private val Most = 1000

  private def isSet(text: Array[Byte]): Boolean =
    text.length > 3 && (text(0) | 0x20) == 's' && (text(1) | 0x20) == 'e' && (text(2) | 0x20) == 't'
