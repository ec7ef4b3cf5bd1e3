package weir.postgres.journal

import java.util.HexFormat
import scala.concurrent.duration.*
import weir.Task
import weir.postgres.{ScriptException, ServerError}
import weir.postgres.input.Checksum
import weir.postgres.protocol.{Lane, SessionState}

/** The journal's tables in the database, for one script: how much of it has been applied.
  *
  * README.md in this folder has the protocol. Every write carries the token of its run, and
  * violates a NOT NULL constraint if the row belongs to another run by then; so of two concurrent
  * runs one fails before it commits.
  */
private[postgres] final class Journal(
    val lane: Lane,
    val script: String,
    names: ScriptKey,
    random: String,
    sumOfFirst: Long => Option[Array[Byte]] = _ => None
):
  import Lane.literal
  private val token = names.token(random)
  private val lockName = literal(names.lock)

  /** The key of the row, as a literal. */
  private var key = literal(names.name)

  /** Returns the row of this script, if it has one, once this run is the only one that may write
    * it.
    *
    * **Waits** some seconds for another run of the script to end: a server takes a while to see
    * that its client was killed. **Fails** if it has not ended by then, if the tables are not
    * weir's, and if the script may be one that the journal has from another folder, unless the user
    * has given the place to go on at.
    */
  def open(patience: FiniteDuration, isTold: Boolean = false): Task[Option[JournalEntry]] =
    Task.direct {
      lane.run(Journal.create).await
      refuseForeign(lane.rows(Journal.version).await)
      refuseDamaged(lane.rows(Journal.columns).await)
      lock(patience)
      val found = find().await
      if found.isEmpty && !isTold then refuseMoved()
      found.flatMap { name =>
        key = literal(name)
        val columns = JournalEntry.columns.mkString(", ")
        val rows = lane.rows(s"SELECT $columns FROM weir_sql.journal WHERE script = $key").await
        rows.headOption.map(row => intact(name)(JournalEntry.of(row)))
      }
    }

  private def find(): Task[Option[String]] =
    val wanted = (names.name +: names.formerly.toVector).map(literal).mkString(", ")
    val there =
      names.place.fold("")(at => s" OR right(run, ${at.length + 1}) = ${literal(s" $at")}")
    lane
      .rows(s"SELECT script, run FROM weir_sql.journal WHERE script IN ($wanted)$there")
      .map(rows => names.find(rows.map(row => (row(0), row(1)))))

  /** Fails if the file has the same content as one of the same name in another folder: it may be
    * that file, moved, or another one.
    */
  private def refuseMoved()(using Task.Direct): Unit =
    for base <- names.formerly do
      val sql =
        "SELECT script, pieces, bytes, checksum FROM weir_sql.journal WHERE bytes > 0 AND " +
          s"right(script, ${base.length + 1}) IN (${literal(base)}, ${literal(s"/$base")}) " +
          s"AND left(run, ${random.length}) <> ${literal(random)}"
      for
        row <- lane.rows(sql).await
        first <- intact(row(0))(sumOfFirst(row(2).toLong))
        if java.util.Arrays.equals(first, JournalEntry.sum(row(3)))
      do throw moved(row(0), row(1))

  private def moved(other: String, pieces: String) = refused(
    s"the journal has a script $other, of which $pieces statements were applied, and this script " +
      "begins with the same statements. It may be that script, moved",
    s"If it is: UPDATE weir_sql.journal SET script = ${literal(names.name)} WHERE script = " +
      s"${literal(other)}. " +
      "If it is another script, to be applied as well: --resume-at 1."
  )

  /** Returns the result of `read` on a row. **Fails** with a `ScriptException` if the row is
    * damaged.
    */
  private def intact[A](name: String)(read: => A): A =
    try read
    catch
      case error: IllegalArgumentException =>
        throw damaged(s"the row of $name holds what no run has written: ${error.getMessage}", error)

  private def damaged(what: String, cause: Throwable | Null = null) = refused(
    s"the journal in the database is damaged: $what",
    "If no script is half applied: DROP SCHEMA weir_sql CASCADE. Otherwise repair it; or find " +
      "the last statement that was applied, delete the row of the script, and go on with " +
      "--resume-at.",
    cause
  )

  private def refuseDamaged(columns: Vector[Vector[String]]): Unit =
    val found = columns.map(_.head).toSet
    val missing = Journal.expected.filterNot(found)
    if missing.nonEmpty then throw damaged(s"there is no ${missing.mkString(", no ")} in weir_sql")

  /** `task`, which restores the settings in the journal. **Fails** with a `ScriptException` if the
    * server refuses them.
    */
  def restoring[A](task: Task[A]): Task[A] = task.adaptError {
    case error: ServerError if !error.connectionLost =>
      damaged(s"a setting that it has cannot be set (${error.problem})", error)
  }

  private def refuseForeign(rows: Vector[Vector[String]]): Unit = rows match
    case Vector(Vector(Journal.mark)) => ()
    case Vector(Vector(other)) =>
      val table = "the table weir_sql.journal in the database"
      throw if other.startsWith("weir sql journal") then
        refused(
          s"$table is of another version of weir ($other)",
          "Apply the script with the weir that made the table. If no script is half applied: " +
            "DROP SCHEMA weir_sql CASCADE."
        )
      else refused(s"$table is not weir's", "Apply the script without --resume.")
    case _ =>
      throw refused(
        "the table weir_sql.journal could not be found or made",
        "Check the rights of the user."
      )

  private def lock(patience: FiniteDuration)(using Task.Direct): Unit =
    val deadline = Task.monotonic.await + patience
    def holder: Option[String] = lane.rows(Journal.tryLock(lockName)).await match
      case Vector(Vector("t", _)) => None
      case rows => Some(rows.headOption.map(_(1)).getOrElse(""))
    var held = holder
    while held.nonEmpty && Task.monotonic.await < deadline do
      Task.sleep(200.millis).await
      held = holder
    held.foreach(pid =>
      throw refused(
        s"another run applies a script called ${names.lock} now (server process $pid)",
        s"Wait for it to end. If its program has ended: SELECT pg_terminate_backend($pid)."
      )
    )

  /** Takes the lock again, which a statement such as DISCARD ALL has released. Holding it twice
    * does no harm.
    */
  def relock: Task[Unit] = lane.run(Journal.relock(lockName))

  /** Writes this run's token into the row. `before` is what `open` has returned. Without a row,
    * rows of parts are deleted too: if the row was deleted by hand, they would be taken for parts
    * of this run.
    */
  def takeOver(before: Option[JournalEntry]): Task[Unit] =
    val sql = before match
      case None =>
        s"$forgettingParts; INSERT INTO weir_sql.journal (script, run) VALUES ($key, " +
          s"${literal(token)})"
      case Some(entry) =>
        val former = key
        // A row of a former version gets the full path as its name, so that other files of the same
        // name do not match it.
        if names.formerly.exists(literal(_) == former) then key = literal(names.name)
        s"UPDATE weir_sql.journal SET run = CASE WHEN run = ${literal(entry.run)} " +
          s"THEN ${literal(token)} END, script = $key WHERE script = $former; " +
          s"UPDATE weir_sql.part SET script = $key WHERE script = $former"
    lane.run(sql).handleErrorWith(fenced)

  /** Returns the statement that records `applied`. It fails if the row no longer has this run's
    * token.
    */
  def recording(applied: Applied): String =
    val chain = if applied.chained then Journal.chain else "NULL"
    val state =
      applied.state.fold("NULL")(state =>
        literal(RecordedSettings.encode(state, SettingCipher(applied.key)))
      )
    val bound = applied.state.fold("NULL")(state => literal(state.bound.mkString("\n")))
    s"UPDATE weir_sql.journal SET run = $ours, pieces = ${applied.pieces}, bytes = " +
      s"${applied.bytes}, " +
      s"place = ${literal(applied.place)}, " +
      s"checksum = '${HexFormat.of().formatHex(applied.checksum)}', chain = $chain, uncertain = " +
      "NULL, " +
      s"settings = $state, bound = $bound, applied = pg_catalog.clock_timestamp(), finished = " +
      s"NULL WHERE script = $key"

  /** Returns the statement that notes the beginning of one that runs outside of a transaction; with
    * `None`, the statement that removes the note.
    */
  def noting(place: Option[String]): String =
    s"UPDATE weir_sql.journal SET run = $ours, uncertain = ${place.fold("NULL")(literal)} " +
      s"WHERE script = $key"

  /** Returns the statement that records one part of a COPY, in the transaction that has applied it.
    */
  def recordingPart(part: Part): String =
    s"INSERT INTO weir_sql.part (script, piece, part, parts, bytes, checksum) VALUES " +
      s"((SELECT script FROM weir_sql.journal WHERE script = $key AND run = ${literal(token)}), " +
      s"${part.piece}, ${part.part}, ${part.parts}, ${part.bytes}, " +
      s"'${HexFormat.of().formatHex(part.checksum)}')"

  /** Returns the statement that deletes the parts of a COPY that is applied whole. */
  def forgettingParts: String = s"DELETE FROM weir_sql.part WHERE script = $key"

  /** Returns the statement that records that the script has been applied to its end. */
  def finishing: String =
    "UPDATE weir_sql.journal SET finished = coalesce(finished, pg_catalog.clock_timestamp()) " +
      s"WHERE script = $key"

  /** Returns the parts of the COPY that comes after `pieces` pieces which have been committed. */
  def parts(pieces: Long): Task[Vector[Part]] = lane
    .rows(
      "SELECT piece, part, parts, bytes, checksum FROM weir_sql.part " +
        s"WHERE script = $key AND piece = $pieces"
    )
    .map(_.map(row => intact(names.name)(Part.of(row))))

  /** Returns the statement that records the rows of the statement after `pieces` pieces, in the
    * transaction that has executed it.
    */
  def recordingRows(pieces: Long, rows: String): String =
    "INSERT INTO weir_sql.answer (script, piece, rows) VALUES " +
      s"((SELECT script FROM weir_sql.journal WHERE script = $key AND run = ${literal(token)}), " +
      s"$pieces, ${literal(rows)}) " +
      "ON CONFLICT (script, piece) DO UPDATE SET rows = EXCLUDED.rows"

  /** Returns the rows that `recordingRows` has recorded; none if there are none. */
  def rows(pieces: Long): Task[Option[String]] = lane
    .rows(s"SELECT rows FROM weir_sql.answer WHERE script = $key AND piece = $pieces")
    .map(_.headOption.map(_.head))

  /** Returns true if there is a table for such rows. */
  def hasRows: Task[Boolean] =
    lane
      .rows("SELECT pg_catalog.to_regclass('weir_sql.answer') IS NOT NULL")
      .map(_.head.head == "t")

  /** Fails with `error`, or with an explanation if another run has taken the row over. */
  def fenced(error: Throwable): Task[Nothing] = Task.fail(
    if isTakenOver(error) then
      refused(
        "another run has taken this script over",
        "Let one run at a time apply a script.",
        error
      )
    else error
  )

  /** Returns true if a write has violated the NOT NULL constraint of the journal's token, or of the
    * script of a part: another run has taken the row over.
    */
  private def isTakenOver(error: Throwable): Boolean =
    val message = String.valueOf(error.getMessage)
    lane.sqlState(error) == "23502" &&
    List("journal", "part", "answer").exists(table => message.contains(s"\"$table\""))

  private def ours = s"CASE WHEN run = ${literal(token)} THEN run END"

  private def refused(problem: String, hint: String, cause: Throwable | Null = null) =
    ScriptException(script, None, problem, None, Some(hint), cause)

private[postgres] object Journal:
  val mark = "weir sql journal 2"

  /** The class of the advisory locks that a run holds on its script. */
  private val lockClass = SessionState.ownLockClass

  // One transaction, if none is open. Made by one run at a time: IF NOT EXISTS fails where two make
  // the same at once. It also asks for the right to make schemas where the schema is there, so that
  // one is looked for before. A row is written often and holds little: with room on its page, each
  // write replaces the one before.
  private def create =
    s"""SELECT pg_catalog.pg_advisory_xact_lock($lockClass, 0);
       |DO 'BEGIN IF pg_catalog.to_regclass(''weir_sql.journal'') IS NULL THEN
       |IF pg_catalog.to_regnamespace(''weir_sql'') IS NULL THEN
       |CREATE SCHEMA weir_sql; END IF;
       |CREATE TABLE weir_sql.journal (script text PRIMARY KEY, run text NOT NULL,
       | pieces bigint NOT NULL DEFAULT 0, bytes bigint NOT NULL DEFAULT 0,
       | place text NOT NULL DEFAULT ''1:1'',
       | checksum text NOT NULL DEFAULT ''${HexFormat.of().formatHex(Checksum().at(0))}'',
       | chain text, uncertain text, settings text DEFAULT '''', bound text DEFAULT '''',
       | started timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(), applied timestamptz,
       | finished timestamptz) WITH (fillfactor = 20);
       |CREATE TABLE weir_sql.part (script text NOT NULL, piece bigint NOT NULL, part int NOT NULL,
       | parts int NOT NULL, bytes bigint NOT NULL, checksum text NOT NULL,
       | PRIMARY KEY (script, piece, part));
       |$answers;
       |COMMENT ON TABLE weir_sql.journal IS ''$mark''; END IF; END'""".stripMargin

  /** Journals of earlier versions lack this table. */
  val answers: String =
    "CREATE TABLE weir_sql.answer (script text NOT NULL REFERENCES weir_sql.journal " +
      "ON UPDATE CASCADE ON DELETE CASCADE, piece bigint NOT NULL, rows text NOT NULL, " +
      "PRIMARY KEY (script, piece))"

  private val columns =
    "SELECT c.relname || '.' || a.attname || ' of type ' || pg_catalog.format_type(a.atttypid, " +
      "NULL) " +
      "FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid WHERE " +
      "a.attnum > 0 AND c.oid IN " +
      "(pg_catalog.to_regclass('weir_sql.journal'), pg_catalog.to_regclass('weir_sql.part'))"

  private val expected = Vector(
    "journal" -> "text" -> List(
      "script",
      "run",
      "place",
      "checksum",
      "chain",
      "uncertain",
      "settings",
      "bound"
    ),
    "journal" -> "bigint" -> List("pieces", "bytes"),
    "journal" -> "timestamp with time zone" -> List("started", "applied", "finished"),
    "part" -> "text" -> List("script", "checksum"),
    "part" -> "bigint" -> List("piece", "bytes"),
    "part" -> "integer" -> List("part", "parts")
  ).flatMap { case ((table, kind), names) => names.map(name => s"$table.$name of type $kind") }

  private val version =
    "SELECT coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), '') FROM pg_catalog.pg_class " +
      "c " +
      "WHERE c.oid = pg_catalog.to_regclass('weir_sql.journal')"

  private def lockOf(key: String) = s"$lockClass, pg_catalog.hashtext($key)"

  private def tryLock(key: String) =
    s"SELECT pg_catalog.pg_try_advisory_lock(${lockOf(key)}), (SELECT pid FROM " +
      "pg_catalog.pg_locks " +
      s"WHERE locktype = 'advisory' AND classid = $lockClass AND objsubid = 2 AND granted " +
      "AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = " +
      "pg_catalog.current_database()) " +
      s"AND objid = (pg_catalog.hashtext($key)::bigint & 4294967295)::oid LIMIT 1)"

  private def relock(key: String) = s"SELECT pg_catalog.pg_advisory_lock(${lockOf(key)})"

  /** The statement that begins a transaction like the current one, as COMMIT AND CHAIN does. */
  private val chain =
    "'BEGIN ISOLATION LEVEL ' || pg_catalog.current_setting('transaction_isolation') || " +
      "CASE pg_catalog.current_setting('transaction_deferrable') WHEN 'on' THEN ' DEFERRABLE' " +
      "ELSE '' END"
