package guestbook

import doobie.implicits.*
import doobie.util.transactor.Transactor
import java.nio.file.Path
import weir.Task
import weir.interop.cats.given

/** What the guests have written, in an SQLite file. JDBC blocks, and may: there is no pool of
  * threads for it.
  */
final class Book private (database: Transactor[Task]):

  /** Returns the number of the entry. */
  def add(name: String, text: String): Task[Long] =
    sql"INSERT INTO entry (name, text) VALUES ($name, $text) RETURNING id"
      .query[Long]
      .unique
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
      driver = "org.sqlite.JDBC",
      url = s"jdbc:sqlite:$file?journal_mode=WAL&busy_timeout=10000",
      logHandler = None
    )
    sql"CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, name TEXT, text TEXT)".update.run
      .transact(database)
      .as(Book(database))
