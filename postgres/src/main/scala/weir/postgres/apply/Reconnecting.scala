package weir.postgres.apply

import java.sql.SQLException
import weir.Task
import weir.postgres.{PostgresUrl, ScriptConnection, Session}
import weir.postgres.protocol.{Connecting, DriverCall}
import weir.postgres.psql.{CommandProblem, Variables}
import weir.postgres.split.FollowedSettings
import weir.std.Hotswap

/** Moves the session to the connection that `\connect` names, and closes the one before.
  *
  * @param opened
  *   holds the connections that are opened here, the last of which is closed at the end of the run
  */
private[apply] final class Reconnecting(
    first: ScriptConnection,
    session: Session,
    opened: Hotswap[ScriptConnection],
    variables: Variables,
    settings: FollowedSettings
):
  private var current = first

  /** Returns the database and its server, for messages. */
  def place: String = current.place

  /** Sets the variables that psql has about its connection. */
  def describe(): Unit =
    for (name, value) <- current.described do
      variables.set(Variables.bytes(name), Variables.bytes(value)): Unit

  /** Connects by the arguments of the command.
    *
    * **Fails** with a `CommandProblem` if they do not name a connection, and with a `ServerError`
    * if the server refuses it; the one before is open then.
    */
  def connect(arguments: List[String]): Task[Unit] = Task.direct {
    val url = urlOf(arguments)
    val last = current
    val next = opened.swap(Connecting.resource(url)).await
    session.moveTo(next)
    current = next
    if last eq first then close(first).await
    describe()
    settings.beginSession(next.reading)
  }

  /** The reader of the scripts, which waits, goes on with the settings of the session. */
  def follow(): Unit = settings.follow(session.reading)

  private def close(connection: ScriptConnection): Task[Unit] = DriverCall.onThread {
    try connection.jdbc.close()
    catch case _: SQLException => () // it was lost before
  }

  private def urlOf(arguments: List[String]): PostgresUrl =
    val reuses :: database :: others = arguments: @unchecked
    val before = if current.url eq null then None else current.url.words
    if before.isEmpty then
      throw CommandProblem(
        "\\connect needs a connection that was opened by a postgresql:// address",
        "Only the parts of such an address are known, which the next connection keeps."
      )
    try
      val words = PostgresUrl.wordsOf(database)
      val given_ = List("user", "host", "port").zip(others).filter(_._2.nonEmpty)
      if words.nonEmpty && given_.nonEmpty then
        throw CommandProblem(
          "\\connect with an address, and with a user, a host or a port beside it",
          "Put them into the address."
        )
      val named = Map("dbname" -> database).filter(_._2.nonEmpty)
      val change = words.getOrElse(named) ++ given_
      val keeps = if words.isEmpty then reuses != "off" else reuses == "on"
      if keeps then PostgresUrl.changed(before.get, change, sys.env)
      else PostgresUrl.fresh(change, sys.env)
    catch
      case bad: IllegalArgumentException =>
        val said = bad.getMessage.stripPrefix("requirement failed: ")
        throw CommandProblem(s"\\connect: $said", "Write \\connect DATABASE USER HOST PORT.")
