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

  // its start may take longer than a test may
  override def beforeAll(): Unit = server: Unit

  private final class Told extends ApplyListener:
    val printed, warned = StringBuilder()
    override def printed(script: String, text: String, isForErrors: Boolean): Unit =
      (if isForErrors then warned else printed).append(text): Unit

  private val all = sys.props.contains("weir.sql.scripts")

  private val printing = RecordedCase.printing ++ RecordedCase.latest
  private val ofRuns = RecordedCase.answered ++ printing

  for file <- ofRuns ++ (if all then RecordedCase.files else Nil) do
    for recorded <- RecordedCase.of(file) do
      test(s"as psql: $file, ${recorded.name}"):
        val results =
          if printing.contains(file) then Results.Table else Results.Dropped
        RecordedCase.inFolder(recorded)(check(recorded, _, results))

  private def check(recorded: RecordedCase, folder: Path, results: Results): Unit =
    DatabaseContents.clear(server, database)
    server.log.forget()
    val told = Told()
    val options = ApplyOptions(
      onError = OnError.Continue,
      psql = PsqlOptions(
        Map("first" -> database),
        folder = folder,
        allowsShell = true,
        results = results
      )
    )
    val script = SqlScript.fromInputStream("s.sql")(Files.newInputStream(folder.resolve("s.sql")))
    ScriptConnection
      .open(server.url(database))
      .use(script.applyTo(_, options, told))
      .runSync(): Unit
    assertEquals(told.printed.toString, recorded.printed)
    val sent = server.logged(database, RecordedCase.otherDatabase).collect {
      case Event.Sent(sql) => sql
      case Event.Failed(state = "42601", query = sql) => sql // no statement is logged then
    }
    val ofScript =
      sent.filterNot(sql => RecordedRunsSuite.own(sql) || RecordedCase.describes(sql))
    for (ours, theirs) <- ofScript.zipAll(recorded.sent, "nothing", "nothing") do
      assert(Comparison.sameText(ours, theirs), s"sent:\n$ours\npsql sent:\n$theirs")

object RecordedRunsSuite:
  /** The statements of each of Weir's connections. */
  private val own = Set("SET client_min_messages = warning", "SET application_name = 'weir sql'")
