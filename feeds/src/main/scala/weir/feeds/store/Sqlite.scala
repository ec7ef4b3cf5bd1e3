package weir.feeds.store

import java.nio.ByteBuffer
import java.nio.file.{Files, InvalidPathException, Path}
import java.sql.{Connection, DriverManager, SQLException}
import java.util.concurrent.ThreadLocalRandom

import org.sqlite.{SQLiteConfig, SQLiteOpenMode}

import weir.program.BadInput

/** Feeds in one SQLite file.
  *
  *   - **WAL**: readers never wait for the writer, nor the writer for them.
  *   - **synchronous=NORMAL**: a commit does not wait for the disk. A killed process loses nothing
  *     that was committed, a power failure at most the last few checks, which are then repeated;
  *     neither can corrupt the file or leave half a check.
  *   - **Busy**: `busy_timeout` would sleep inside native code, with the carrier thread pinned. So
  *     it is zero, and waiting for another process is a plain `Thread.sleep` out here.
  *   - **Identity**: the header of the file says that it is weir's (`application_id`). It is read
  *     as bytes before SQLite opens anything, so a foreign file is not touched at all.
  */
final class Sqlite private (file: Path, busyLimitMillis: Long) extends Database:
  def name: String = file.toString

  def version(): Option[Int] =
    if Files.isDirectory(file) then
      throw BadInput(name, "this is a folder, not a database.", "Name a file inside it with --db.")
    if !Files.exists(file) then
      val folder = file.toAbsolutePath.getParent
      if !Files.isDirectory(folder) then
        throw BadInput(
          name,
          s"there is no folder $folder.",
          "Create it, or name another with --db."
        )
      None
    else if !Files.isReadable(file) then
      throw BadInput(name, "it may not be read.", "Give yourself the right to do so.")
    else if Files.size(file) == 0 || interrupted then None
    else Some(headerVersion)

  /** SQLite makes files beside the database, too. */
  override def checkWritable(): Unit =
    val folder = file.toAbsolutePath.getParent
    if !Files.isWritable(folder) then
      throw BadInput(name, s"no file can be made in $folder.", "Name another place with --db.")
    if Files.exists(file) && !Files.isWritable(file) then
      throw BadInput(name, "it may not be written to.", "Give yourself the right to do so.")

  /** A process died while it created the file; SQLite rolls that back when it opens it. */
  private def interrupted = Files.exists(Path.of(s"$file-journal"))

  private def headerVersion: Int =
    val in = Files.newInputStream(file)
    val header =
      try in.readNBytes(100)
      finally in.close()
    if header.length < 100 || String(header, 0, 15, "US-ASCII") != "SQLite format 3" then
      throw BadInput(name, "this file is not an SQLite database.", Sqlite.otherFile)
    val application = ByteBuffer.wrap(header).getInt(68)
    val version = ByteBuffer.wrap(header).getInt(60)
    if application != Sqlite.applicationId then
      throw BadInput(name, "this database belongs to another program.", Sqlite.otherFile)
    if version > Schema.version then
      throw BadInput(
        name,
        s"a newer weir made this database (version $version; this one knows ${Schema.version}).",
        "Update weir, or name another file with --db."
      )
    version

  /** Makes the tables and the header in one transaction, and only then switches to WAL, so that the
    * header is in the main file from the first moment there is anything in it.
    */
  def create(): Unit =
    val connection = open()
    try
      transaction(connection):
        if applicationOf(connection) == 0 && hasNoTables(connection) then
          Schema.create(connection, Sqlite.key)
          Sql.execute(connection, s"PRAGMA application_id = ${Sqlite.applicationId}")
          Sql.execute(connection, s"PRAGMA user_version = ${Schema.version}")
        else if applicationOf(connection) != Sqlite.applicationId then
          throw BadInput(name, "this database belongs to another program.", Sqlite.otherFile)
      retrying(Sql.execute(connection, "PRAGMA journal_mode = WAL"))
    catch
      case error: SQLException if error.getErrorCode == Sqlite.notADatabase =>
        throw BadInput(name, "this file is not an SQLite database.", Sqlite.otherFile)
    finally connection.close()

  /** SQLite can take no constraint from a table, so the items move to a new one. */
  def upgrade(): Unit =
    val connection = open()
    try
      transaction(connection):
        val version = Sql.query(connection, "PRAGMA user_version")()(_.getInt(1)).head
        if version < 2 then
          Sql.execute(connection, "ALTER TABLE item RENAME TO item_1")
          Sql.execute(connection, Schema.itemsOfVersion2(Sqlite.key))
          Sql.execute(
            connection,
            s"INSERT INTO item (${Sqlite.columns1}) SELECT ${Sqlite.columns1} FROM item_1"
          )
          Sql.execute(connection, "DROP TABLE item_1")
          Upgrade.toVersion2(connection)
        Upgrade.afterVersion2(connection, version)
        if version < Schema.version then
          Sql.execute(connection, s"PRAGMA user_version = ${Schema.version}")
    finally connection.close()

  def connect(): Connection =
    val connection = open()
    try
      retrying:
        Sql.execute(connection, "PRAGMA synchronous = NORMAL")
        Sql.execute(connection, "PRAGMA foreign_keys = ON")
      connection
    catch
      case error: Throwable =>
        connection.close()
        throw error

  def connectAgain(): Connection = connect()

  /** Another program has had the file locked for longer than usual. */
  def isAway(error: SQLException): Boolean = Sqlite.isBusy(error.getErrorCode)

  /** Does not use `SQLITE_OPEN_READONLY` if the files may be written: the last connection to close
    * would leave the WAL's files behind.
    */
  def connectForReading(): Connection =
    val config = SQLiteConfig()
    if mayWrite then config.resetOpenMode(SQLiteOpenMode.CREATE) else config.setReadOnly(true)
    config.setBusyTimeout(Sqlite.readerPatienceMillis)
    // Without a log nobody writes, and SQLite needs to be told, since it cannot make its files.
    val place = if isSnapshot then s"${file.toUri}?immutable=1" else file.toAbsolutePath.toString
    val connection = config.createConnection(s"jdbc:sqlite:$place")
    Sql.execute(connection, "PRAGMA query_only = ON")
    connection

  override def isSnapshot: Boolean = !mayWrite && !hasLog

  private def mayWrite =
    Files.isWritable(file) && Files.isWritable(file.toAbsolutePath.getParent)

  private def hasLog =
    val log = Path.of(s"$file-wal")
    Files.exists(log) && Files.size(log) > 0

  /** Begins as a writer at once: a reader that becomes a writer later can fail in the middle. */
  def transaction[A](connection: Connection)(body: => A): A =
    Database.between(connection)(retrying(Sql.execute(connection, "BEGIN IMMEDIATE")))(body)

  val now: String = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

  def hostOf(url: String): String =
    val rest = s"substr($url, instr($url, '://') + 3)"
    s"substr($rest, 1, instr($rest, '/') - 1)"

  val hasManyWriters: Boolean = false

  /** There is one writer at a time. */
  def lock(connection: Connection, name: String): Unit = ()

  private def open(): Connection =
    val connection = DriverManager.getConnection(s"jdbc:sqlite:${file.toAbsolutePath}")
    Sql.execute(connection, "PRAGMA busy_timeout = 0")
    connection

  private def applicationOf(connection: Connection): Int =
    Sql.query(connection, "PRAGMA application_id")()(_.getInt(1)).head

  private def hasNoTables(connection: Connection): Boolean =
    Sql.query(connection, "SELECT count(*) FROM sqlite_master")()(_.getInt(1)).head == 0

  /** Readers, too, are refused for a moment: while another process recovers the log after a crash,
    * or writes it back as the last to close.
    */
  override def retrying[A](body: => A): A =
    val deadline = System.nanoTime() + busyLimitMillis * 1_000_000
    var result: Option[A] = None
    while result.isEmpty do
      try result = Some(body)
      catch
        case error: SQLException
            if Sqlite.isBusy(error.getErrorCode) && System.nanoTime() < deadline =>
          Thread.sleep(ThreadLocalRandom.current().nextLong(1, 20))
    result.get

object Sqlite:
  private val key = "INTEGER PRIMARY KEY"

  /** The columns of the items in version 1. */
  private val columns1 = "id, feed_id, guid, url, title, published_at, summary, first_seen_at"

  /** The four letters `Weir`, as the header of the file has them. */
  private val applicationId = 0x57656972

  private val notADatabase = 26

  /** No transaction of weir lasts longer than some milliseconds; another tool's may. */
  private val usualBusyLimitMillis = 30_000L

  /** Readers wait for a writer only while it recovers the file after a crash. */
  private val readerPatienceMillis = 5_000

  private val otherFile = "Name another file with --db; this one was not changed."

  /** Returns the database in the file at `path`, whether it exists or not.
    *
    * @param busyLimitMillis
    *   the time for which another program may keep it locked before that counts as an outage
    */
  def at(path: String, busyLimitMillis: Long = usualBusyLimitMillis): Database =
    try
      if path.isEmpty then throw BadInput("--db", "the name is empty.", "Name a file.")
      if path.startsWith("jdbc:") then
        throw BadInput(
          "--db",
          s"'${path.takeWhile(_ != '?')}' is neither SQLite nor Postgres.",
          "Give the path of a file, or jdbc:postgresql://host/database."
        )
      Sqlite(Path.of(path), busyLimitMillis)
    catch
      case bad: InvalidPathException =>
        throw BadInput("--db", s"'$path' is no path (${bad.getReason}).", "Name a file.")

  /** SQLITE_BUSY and SQLITE_LOCKED, with their extended codes. */
  private def isBusy(code: Int): Boolean = (code & 0xff) == 5 || (code & 0xff) == 6
