package weir.postgres.protocol

import java.util.Locale
import weir.Task
import weir.postgres.Piece
import weir.postgres.split.Tokens

/** The changes that a script has made to its session: settings, which can be restored in another
  * session, and things that end with the session.
  *
  * @param settings
  *   names and values, in the order in which they must be set
  * @param bound
  *   the things that cannot be restored in another session: temporary tables, prepared statements,
  *   cursors, advisory locks, LISTEN
  */
private[postgres] final case class SessionState(
    settings: Vector[(String, String)],
    bound: Vector[String]
):
  /** Returns the statements that give these settings to a session with the settings of `before`;
    * empty if there is nothing to do.
    */
  def change(before: SessionState): String =
    val has = before.settings.toMap
    val wanted = settings.map(_._1).toSet
    // The script's role may lack the rights that the session had: so it is set last, and reset
    // first.
    val undone = before.settings.reverseIterator.collect {
      case (name, _) if !wanted(name) => SessionState.reset(name)
    }
    val done = settings.iterator.collect {
      case (name, value) if !has.get(name).contains(value) => SessionState.set(name, value)
    }
    (undone ++ done).mkString

  /** Returns true if the session has another role or user than it was opened for. */
  def actsAsOther: Boolean =
    settings.exists((name, _) => name == "session_authorization" || name == "role")

private[postgres] object SessionState:
  val empty: SessionState = SessionState(Vector.empty, Vector.empty)

  /** The class of the advisory locks that weir itself takes, which are not part of a script's
    * session.
    */
  val ownLockClass = 1464158546 // "WEIR"

  /** Reads the state of the session of `lane`.
    *
    * @param named
    *   settings with a dot in their name that the script has set: the server lists no such setting
    * @param opened
    *   the user that the session was opened for
    */
  def read(lane: Lane, named: Set[String], opened: String): Task[SessionState] =
    lane.rows(query(named, opened)).map { rows =>
      val settings = rows.collect { case Vector("setting", name, value) => (name, value) }
      SessionState(settings, rows.collect { case Vector("bound", kind, name) => s"$kind $name" })
    }

  private def query(named: Set[String], opened: String): String =
    val dotted = named.toVector.sorted
      .map(name =>
        s"""UNION ALL SELECT 2, 'setting', ${Lane.literal(name)},
           |  pg_catalog.current_setting(${Lane.literal(name)}, true)
           |  WHERE pg_catalog.current_setting(${Lane.literal(
            name
          )}, true) IS NOT NULL""".stripMargin
      )
      .mkString("\n")
    s"""SELECT kind, name, value FROM (
       |SELECT 1 AS place, 'setting' AS kind, name, setting AS value FROM pg_catalog.pg_settings
       |  WHERE source = 'session' AND context IN ('user', 'superuser')
       |  AND name NOT IN ('application_name', 'client_min_messages', 'transaction_isolation',
       |    'transaction_read_only', 'transaction_deferrable')
       |$dotted
       |UNION ALL SELECT 3, 'setting', 'session_authorization', session_user::text
       |  WHERE session_user::text <> ${Lane.literal(opened)}
       |UNION ALL SELECT 4, 'setting', 'role', pg_catalog.current_setting('role')
       |  WHERE pg_catalog.current_setting('role') <> 'none'
       |UNION ALL SELECT 5, 'bound', 'temporary table', relname::text FROM pg_catalog.pg_class
       |  WHERE relnamespace = pg_catalog.pg_my_temp_schema() AND relkind IN ('r', 'p', 'v', 'S')
       |UNION ALL SELECT 5, 'bound', 'prepared statement', name
       |  FROM pg_catalog.pg_prepared_statements
       |UNION ALL SELECT 5, 'bound', 'cursor', name FROM pg_catalog.pg_cursors
       |  WHERE is_holdable AND name <> ''
       |UNION ALL SELECT 5, 'bound', 'advisory lock', pg_catalog.concat(classid, ',', objid)
       |  FROM pg_catalog.pg_locks
       |  WHERE locktype = 'advisory' AND pid = pg_catalog.pg_backend_pid()
       |  AND NOT (classid = $ownLockClass AND objsubid = 2)
       |UNION ALL SELECT 5, 'bound', 'LISTEN', channel
       |  FROM pg_catalog.pg_listening_channels() AS channel
       |) AS state ORDER BY place, name""".stripMargin

  private def set(name: String, value: String): String =
    s"SELECT pg_catalog.set_config(${Lane.literal(name)}, ${Lane.literal(value)}, false);"

  private def reset(name: String): String = name match
    case "session_authorization" => "RESET SESSION AUTHORIZATION;"
    case _ => s"RESET ${name.split('.').map(part => s"\"$part\"").mkString(".")};"

  /** Statements that change neither settings nor things that are bound to the session, except
    * through a function.
    */
  private val quiet =
    Set("INSERT", "UPDATE", "DELETE", "MERGE", "COPY", "ALTER", "DROP", "COMMENT") ++
      Set("GRANT", "REVOKE", "TRUNCATE", "VACUUM", "ANALYZE", "REINDEX", "CLUSTER", "REFRESH") ++
      Set("BEGIN", "START", "SAVEPOINT", "RELEASE", "COMMIT", "END", "LOCK")

  /** Returns true if this statement may change what `read` returns. */
  def mayChange(statement: Piece.Statement): Boolean =
    !statement.runsText || Tokens.parts(statement.text, statement.reading).exists(partMayChange)

  private def partMayChange(text: Array[Byte]): Boolean =
    Tokens.leading(text, CreateWords) match
      case "CREATE" :: rest =>
        rest.exists(Set("TEMP", "TEMPORARY")) || Tokens.mention(text, Set("pg_temp"))
      case "SELECT" :: _ =>
        // Any SELECT may call a function of the script that changes a setting; one with SETVAL
        // alone does not.
        !Tokens.mention(text, Set("setval")) || Tokens.mention(text, Set("set_config", "into"))
      case first :: _ => !quiet(first)
      case Nil => true

  // CREATE OR REPLACE LOCAL TEMPORARY
  private val CreateWords = 5

  /** The settings with a dot in their names that a `SET` names. */
  def dottedNames(statement: Piece.Statement): List[String] =
    Tokens.parts(statement.text, statement.reading).flatMap(dottedName)

  private def dottedName(text: Array[Byte]): Option[String] =
    val tokens = Tokens(text)
    if !tokens.next() || tokens.word != "SET" || !tokens.next() then None
    else
      if Set("SESSION", "LOCAL")(tokens.word) then tokens.next(): Unit
      val parts = tokens.qualifiedName()
      Option.when(parts.sizeIs > 1)(parts.mkString(".").toLowerCase(Locale.ROOT))
