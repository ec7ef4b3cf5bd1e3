package weir.lab.load

import java.nio.file.Path
import java.sql.Connection
import scala.concurrent.duration.*

import weir.{Resource, Task}
import weir.cli.sql.EmbeddedServer
import weir.postgres.ScriptConnection
import weir.program.BadInput

/** The table on its server, with the operations outside of the measured time. */
final class LoadDatabase(val url: String, connection: Connection):

  /** An empty table, and nothing that the server still has to write. */
  def empty(): Unit =
    execute(s"TRUNCATE ${LoadFiles.table}", connection)
    execute("CHECKPOINT", connection)

  def rows(): Long =
    val statement = connection.createStatement()
    try
      val result = statement.executeQuery(s"SELECT count(*) FROM ${LoadFiles.table}")
      val _ = result.next()
      result.getLong(1)
    finally statement.close()

  /** Measures the server's own COPY, over a connection of its own, as the others have one. */
  def copyFrom(data: Path): Task[FiniteDuration] =
    ScriptConnection
      .open(url)
      .use(own =>
        Task {
          val start = System.nanoTime()
          execute(
            s"COPY ${LoadFiles.table} (id, value) FROM '${data.toString.replace("'", "''")}'",
            own.jdbc
          )
          (System.nanoTime() - start).nanos
        }
      )

  private def execute(sql: String, connection: Connection): Unit =
    val statement = connection.createStatement()
    try statement.execute(sql): Unit
    finally statement.close()

  private def create(): Unit =
    try execute(LoadFiles.createTable, connection)
    catch
      case error: java.sql.SQLException if error.getSQLState == "42P07" =>
        throw BadInput(
          "--db",
          s"the database has a table ${LoadFiles.table} already.",
          "Drop it, or give another database."
        )

  private def drop(): Unit = execute(s"DROP TABLE ${LoadFiles.table}", connection)

object LoadDatabase:
  /** Creates the table in the database `db`, or in a server of the program's own. It is dropped
    * afterwards. **Fails** with a [[weir.program.BadInput]] if it exists already.
    */
  def resource(db: String): Resource[LoadDatabase] =
    val url =
      if db == EmbeddedServer.name then EmbeddedServer.resource.map(_.url) else Resource.pure(db)
    for
      url <- url
      connection <- ScriptConnection.open(url)
      database <- Resource.make(Task {
        val database = LoadDatabase(url, connection.jdbc)
        database.create()
        database
      })(database => Task(database.drop()))
    yield database
