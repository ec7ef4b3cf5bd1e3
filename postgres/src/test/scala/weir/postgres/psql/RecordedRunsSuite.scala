package weir.postgres.psql

import java.nio.file.{Files, Path}

import weir.WeirSuite
import weir.postgres.*

import ServerLog.Event

/** Scripts with commands of psql, applied to a server, send and print what psql did.
  *
  * Those that no answer of the server decides are run in the long tier: `RecordedCasesSuite` has
  * them without a server. The suite takes about 7 s, since it starts a server whose log it reads.
  */
class RecordedRunsSuite extends WeirSuite:
  private val database = "recorded_runs"
  private lazy val server: LoggedServer =
    val shared = LoggedServer.shared
    shared.create(database)
    shared.create(RecordedCase.otherDatabase)
    shared

  private final class Told extends ApplyListener:
    val printed, warned = StringBuilder()
    override def printed(script: String, text: String, isForErrors: Boolean): Unit =
      (if isForErrors then warned else printed).append(text): Unit

  private val all = sys.props.contains("weir.sql.scripts")

  for file <- RecordedCase.answered ++ (if all then RecordedCase.files else Nil) do
    for recorded <- RecordedCase.of(file) do
      test(s"as psql: $file, ${recorded.name}"):
        RecordedCase.inFolder(recorded)(check(recorded, _))

  private def check(recorded: RecordedCase, folder: Path): Unit =
    DatabaseContents.clear(server, database)
    server.log.forget()
    val told = Told()
    val options = ApplyOptions(
      onError = OnError.Continue,
      psql = PsqlOptions(Map("first" -> database), folder = folder, allowsShell = true)
    )
    val script = SqlScript.fromInputStream("s.sql")(Files.newInputStream(folder.resolve("s.sql")))
    ScriptConnection
      .open(server.url(database))
      .use(script.applyTo(_, options, told))
      .runSync(): Unit
    assertEquals(told.printed.toString, recorded.printed)
    val sent = server.log.ofAll(database, RecordedCase.otherDatabase).collect {
      case Event.Sent(sql) => sql
      case Event.Failed(state = "42601", query = sql) => sql // no statement is logged then
    }
    val ofScript = sent.filterNot(_ == "SET client_min_messages = warning")
    for (ours, theirs) <- ofScript.zipAll(recorded.sent, "nothing", "nothing") do
      assert(Comparison.sameText(ours, theirs), s"sent:\n$ours\npsql sent:\n$theirs")
