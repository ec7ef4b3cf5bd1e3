package weir.postgres.apply

import weir.Task
import weir.postgres.{Done, Session}

/** Has an error in a transaction undo one statement, and not the transaction: psql's
  * `ON_ERROR_ROLLBACK`. Each statement in a transaction gets a savepoint.
  */
private[apply] final class Savepoints(session: Session):
  import Savepoints.*

  /** True if statements get a savepoint. */
  var isOn = false

  // of the statement that runs
  private var isSet = false
  private var isGone = false

  /** Before a statement. */
  def begin()(using Task.Direct): Unit =
    isSet = false
    isGone = false
    if isOn && session.transaction == Session.Transaction.Open then
      session.run(s"SAVEPOINT $Name").await: Unit
      isSet = true

  /** The statement has succeeded. */
  def succeeded(done: Done): Unit = isGone = Ending(done.tag)

  /** After a statement, or after the data of a COPY. */
  def end()(using Task.Direct): Unit = if isSet then
    isSet = false
    session.transaction match
      case Session.Transaction.Failed => session.run(s"ROLLBACK TO $Name").await: Unit
      case Session.Transaction.Open if !isGone => session.run(s"RELEASE $Name").await: Unit
      case _ => ()

private object Savepoints:
  /** The name that psql takes. */
  val Name = "pg_psql_temporary_savepoint"

  /** The tags of statements after which psql leaves its savepoint alone: it may be gone. */
  private val Ending = Set("COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
