package weir.postgres.journal

import weir.postgres.Piece
import weir.postgres.split.Tokens

/** The effect of a statement on its transaction, as far as its words show. */
private[postgres] enum StatementKind:
  /** Nothing. */
  case Plain

  /** It begins a transaction, rolls back to a savepoint, is refused or has no effect outside of a
    * transaction, or takes effect at its end.
    */
  case Control
  case Commit(chained: Boolean)
  case Rollback
  case Prepare

  /** Several statements in one, joined by `\;`, of which some begin or end a transaction. */
  case Joined

  /** Returns true if it must not get a transaction of its own. */
  def controls: Boolean = this != Plain

private[postgres] object StatementKind:
  private val ends = Set("COMMIT", "END", "ROLLBACK", "ABORT", "BEGIN", "START", "PREPARE")

  /** Returns the effect of the statement when it is sent. */
  def of(statement: Piece.Statement): StatementKind =
    if statement.runsText then ofText(statement) else Plain

  /** Returns the effect of its text, also if that does not run now. */
  def ofText(statement: Piece.Statement): StatementKind =
    val words = Tokens.leading(statement.text, 5)
    words match
      case _ if joined(statement) => Joined
      case "PREPARE" :: "TRANSACTION" :: _ => Prepare
      case ("COMMIT" | "ROLLBACK") :: "PREPARED" :: _ => Plain
      case ("COMMIT" | "END") :: rest => Commit(chained(rest))
      case ("ROLLBACK" | "ABORT") :: rest => if rest.contains("TO") then Control else Rollback
      case ("BEGIN" | "START" | "SAVEPOINT" | "RELEASE" | "LOCK" | "DECLARE" | "LISTEN") :: _ =>
        Control
      case "SET" :: ("LOCAL" | "TRANSACTION" | "CONSTRAINTS") :: _ => Control
      case _ => Plain

  private val repeatable =
    Set("VACUUM", "ANALYZE", "ANALYSE", "REINDEX", "CLUSTER", "CHECKPOINT", "DISCARD")

  /** Returns true if it does no harm to run the statement twice. */
  def mayRepeat(statement: Piece.Statement): Boolean =
    Tokens
      .parts(statement.text, statement.reading)
      .map(Tokens.leading(_, 2))
      .forall:
        case "ALTER" :: "SYSTEM" :: _ => true
        case words => words.headOption.exists(repeatable)

  private def chained(words: List[String]) = words.contains("CHAIN") && !words.contains("NO")

  /** Returns true if several statements are joined to one, and one of them begins or ends a
    * transaction.
    */
  private def joined(statement: Piece.Statement): Boolean =
    val parts = Tokens.parts(statement.text, statement.reading)
    parts.sizeIs > 1 && parts.exists(Tokens.leading(_, 1).exists(ends))
