package weir.feeds.store

import java.sql.Connection
import java.util.concurrent.locks.ReentrantLock

import weir.program.BadInput

/** The feeds and items of a database, for reading: it is neither made nor changed.
  *
  * One connection under a lock, since a query takes milliseconds. A connection that has broken, as
  * when a server of Postgres was started again, is replaced before the next query.
  */
final class StoreReader private (database: Database) extends AutoCloseable:
  private val lock = ReentrantLock()
  private var connection = database.connectForReading()

  def name: String = database.name

  def read[A](body: Connection => A): A =
    lock.lock()
    try
      if database.isSnapshot || !connection.isValid(StoreReader.patienceSeconds) then
        connection.close()
        connection = database.connectForReading()
      body(connection)
    finally lock.unlock()

  def close(): Unit = connection.close()

object StoreReader:
  private val patienceSeconds = 2

  private[feeds] def nothingAt(database: Database): BadInput = BadInput(
    database.name,
    "there is no database of feeds here.",
    "Make one with weir feeds add URL, --opml FILE or --urls FILE, or name another with --db."
  )

  /** **Fails** with [[BadInput]] if there is no database, or none of weir's.
    */
  def open(database: Database): StoreReader =
    def refuse(problem: String, hint: String) = throw BadInput(database.name, problem, hint)
    database.version() match
      case None => throw nothingAt(database)
      case Some(version) if version < Schema.version =>
        refuse(
          s"an older weir made this database (version $version; this one reads ${Schema.version}).",
          "Run weir feeds on it once, which brings it up to date."
        )
      case Some(_) => StoreReader(database)
