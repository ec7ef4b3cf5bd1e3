package weir.postgres.send

import weir.postgres.Piece

/** The values of settings that a script has made, which what the server says of later statements may quote. */
private[postgres] final class KnownSecrets:
  private var values = Set.empty[String]

  /** With the quotes that servers put around values: without them it may be a word like any other. */
  def known: Set[String] = values

  /** Takes in what a SET says. Others cost a look at their first letters. */
  def add(statement: Piece.Statement): Unit =
    if KnownSecrets.isSet(statement.text) && values.size < KnownSecrets.Most then
      values ++= Placing
        .secretsOf(statement)
        .flatMap(value => List(s"\"$value\"", s"«$value»", s"'$value'"))

private object KnownSecrets:
  private val Most = 1000

  private def isSet(text: Array[Byte]): Boolean =
    text.length > 3 && (text(0) | 0x20) == 's' && (text(1) | 0x20) == 'e' && (text(2) | 0x20) == 't'
