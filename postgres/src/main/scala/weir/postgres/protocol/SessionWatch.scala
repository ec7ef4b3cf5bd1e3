package weir.postgres.protocol

import weir.Task
import weir.postgres.Piece
import weir.postgres.split.Tokens

/** The state of a script's session, kept up to date: the server is asked only after statements that
  * may have changed it.
  */
private[postgres] final class SessionWatch(lane: Lane):
  private var opened = ""
  private var known = SessionState.empty
  private var named = Set.empty[String]

  /** True if a statement since the last query may have changed the state. */
  private var stale = true

  /** True if a statement of the open transaction may have changed the state. */
  private var touched = false

  /** True if the state that the server reports within the transaction will also hold after it. */
  private var certain = true

  def state: SessionState = known
  def isCertain: Boolean = certain
  def isBound: Boolean = known.bound.nonEmpty
  def readOnly: Boolean = known.settings.contains(("default_transaction_read_only", "on"))

  /** Before the first statement of a script. */
  def begin()(using Task.Direct): Unit =
    if opened.isEmpty then opened = lane.rows("SELECT session_user").await.head.head
    look()

  /** Gives the session the settings of another one. */
  def restore(other: SessionState)(using Task.Direct): Unit =
    named ++= other.settings.map(_._1).filter(_.contains('.'))
    val change = other.change(known)
    if change.nonEmpty then lane.run(change).await
    stale = true
    look()

  /** Returns true if the session has a value for this setting already. */
  def has(name: String)(using Task.Direct): Boolean =
    val value = s"pg_catalog.current_setting(${Lane.literal(name)}, true)"
    lane.rows(s"SELECT coalesce($value, '') <> ''").await == Vector(Vector("t"))

  def executed(statement: Piece.Statement): Unit =
    if SessionState.mayChange(statement) then
      stale = true
      touched = true
      named ++= SessionState.dottedNames(statement)
      if !statement.isWhole || !statement.runsText || Tokens.mention(
          statement.text,
          SessionWatch.passing,
          statement.reading
        )
      then certain = false

  def transactionBegins(): Unit =
    touched = false
    certain = true

  /** The transaction's changes have been rolled back. */
  def rolledBack(): Unit =
    if touched then stale = true
    transactionBegins()

  /** The transaction is committed: its local settings have ended. */
  def ended(): Unit =
    if !certain || isBound then stale = true
    transactionBegins()

  /** Asks the server if the known state may be out of date. */
  def look()(using Task.Direct): Unit = if stale then
    known = SessionState.read(lane, named, opened).await
    stale = false

  /** `sql` with the rights of the user that the session was opened for, for use within a
    * transaction. After it the script's role is set again: also for triggers that run at its
    * COMMIT.
    */
  def asOurselves(sql: String): String =
    if !known.actsAsOther then sql
    else
      val settings = known.settings.toMap
      val user = settings.get("session_authorization")
      val role = settings.get("role")
      val away =
        if user.nonEmpty then "SET LOCAL SESSION AUTHORIZATION DEFAULT" else "SET LOCAL ROLE NONE"
      val back =
        user.map(name => s"; SET LOCAL SESSION AUTHORIZATION ${Lane.literal(name)}").getOrElse("") +
          role.map(name => s"; SET LOCAL ROLE ${Lane.literal(name)}").getOrElse("")
      s"$away; $sql$back"

private[postgres] object SessionWatch:
  /** Words of statements whose effect may end with the transaction, or begin at its end. */
  val passing: Set[String] = Set("local", "set_config", "listen")
