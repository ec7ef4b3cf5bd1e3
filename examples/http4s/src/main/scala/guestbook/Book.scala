package guestbook

import doobie.implicits.*
import doobie.util.transactor.Transactor
import java.nio.file.Path
import weir.Task
import weir.interop.cats.given

/** The entries of the guests, in a file of H2. JDBC may block: there is no pool of threads for it.
  * (Call a driver that waits in native code, as SQLite's does for a lock, by
  * `Task.onPlatformThread`.)
  */
final class Book private (database: Transactor[Task]):

  /** Returns the number of the entry. */
  def add(name: String, text: String): Task[Long] =
    sql"INSERT INTO entry (name, text) VALUES ($name, $text)".update
      .withUniqueGeneratedKeys[Long]("id")
      .transact(database)

  /** The newest `limit` entries, the newest first. */
  def newest(limit: Int): Task[List[Book.Entry]] =
    sql"SELECT id, name, text FROM entry ORDER BY id DESC LIMIT $limit"
      .query[Book.Entry]
      .to[List]
      .transact(database)

object Book:
  final case class Entry(id: Long, name: String, text: String)

  def open(file: Path): Task[Book] =
    val database = Transactor.fromDriverManager[Task](
      driver = "org.h2.Driver",
      url = s"jdbc:h2:${file.toAbsolutePath};DB_CLOSE_DELAY=-1",
      logHandler = None
    )
    val table = sql"""CREATE TABLE IF NOT EXISTS entry (
      id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name VARCHAR, text VARCHAR
    )"""
    table.update.run.transact(database).as(Book(database))
