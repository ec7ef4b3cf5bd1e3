package weir.postgres.apply

import weir.postgres.Piece
import weir.postgres.split.Tokens

/** Decides by the first words of a statement if it ends its transaction; also by those of the
  * statements that `\;` has joined to it.
  */
private[postgres] object TransactionEnd:

  /** The words that end it, or null. */
  def of(statement: Piece.Statement): String | Null =
    var ends: String | Null = null
    for part <- Tokens.parts(statement.text, statement.reading) if ends eq null do
      ends = ofOne(part)
    ends

  private def ofOne(statement: Array[Byte]): String | Null =
    val words = Tokens.leading(statement, 3)
    words match
      case "COMMIT" :: "PREPARED" :: _ | "ROLLBACK" :: "PREPARED" :: _ => null // of another one
      case "ROLLBACK" :: "TO" :: _ => null // a savepoint
      case "ROLLBACK" :: ("WORK" | "TRANSACTION") :: "TO" :: _ => null
      case ("COMMIT" | "END" | "ROLLBACK" | "ABORT") :: _ => words.head
      case "PREPARE" :: "TRANSACTION" :: _ => "PREPARE TRANSACTION"
      case _ => null
