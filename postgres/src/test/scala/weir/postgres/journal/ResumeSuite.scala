package weir.postgres.journal

import java.io.ByteArrayInputStream
import weir.Task
import weir.postgres.*

/** Scripts that are applied with a journal, cut off, and applied again. */
trait ResumeSuite extends ServerSuite:
  val resuming = ApplyOptions(resume = Some(Resume()))

  def at(place: String): ApplyOptions =
    ApplyOptions(resume = Some(Resume(at = Some(Resume.Place.parse(place).get))))

  def applying(
      connection: ScriptConnection,
      text: String,
      options: ApplyOptions,
      name: String = "s.sql",
      listener: ApplyListener = ApplyListener.none
  ): Task[ApplySummary] =
    val script = SqlScript.fromInputStream(name)(ByteArrayInputStream(text.getBytes("UTF-8")))
    SqlScripts.applyTo(connection, List(script), options, listener)

  def apply(
      database: String,
      text: String,
      options: ApplyOptions = resuming,
      name: String = "s.sql",
      listener: ApplyListener = ApplyListener.none
  ): ApplySummary =
    ScriptConnection
      .open(server.unix(database))
      .use(applying(_, text, options, name, listener))
      .runSync()

  def refused(database: String, text: String, options: ApplyOptions = resuming): ScriptException =
    intercept[ScriptException](apply(database, text, options))

  /** A listener whose `at`-th end of a statement is an error, as if the client had died there. */
  class DiesAfter(statements: Int) extends ApplyListener:
    private var left = statements
    override def statementDone(script: String, s: Piece.Statement, done: Done, nanos: Long): Unit =
      left -= 1
      if left == 0 then throw DiesAfter.Died

  object DiesAfter:
    object Died extends RuntimeException("died")

  /** Applies the script up to the `statements`-th statement of this run, then drops the connection.
    */
  def dies(
      database: String,
      text: String,
      statements: Int,
      options: ApplyOptions = resuming
  ): Unit =
    intercept[DiesAfter.Died.type](
      ScriptConnection
        .open(server.unix(database))
        .use(connection =>
          applying(
            connection,
            text,
            options,
            listener = new DiesAfter(statements) {
              override def statementDone(script: String, s: Piece.Statement, d: Done, n: Long) =
                try super.statementDone(script, s, d, n)
                catch
                  case died: DiesAfter.Died.type =>
                    connection.abort()
                    throw died
            }
          )
        )
        .runSync()
    ): Unit

  def ask(database: String)(sql: String): String = server.ask(database)(sql)
  def journal(database: String)(column: String): String =
    ask(database)(s"SELECT $column FROM weir_sql.journal")
