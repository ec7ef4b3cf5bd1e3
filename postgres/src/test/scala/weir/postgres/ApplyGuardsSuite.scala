package weir.postgres

import java.io.ByteArrayInputStream
import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*

/** Tests scripts that are refused instead of applied silently. */
class ApplyGuardsSuite extends ServerSuite:
  private def apply(
      database: String,
      text: String,
      options: ApplyOptions,
      listener: ApplyListener = ApplyListener.none
  ): Either[Throwable, ApplySummary] = ScriptConnection
    .open(server.unix(database))
    .use(
      SqlScript
        .fromInputStream("s.sql")(ByteArrayInputStream(text.getBytes))
        .applyTo(_, options, listener)
    )
    .attempt
    .runSync()

  private def problem(result: Either[Throwable, ApplySummary]): String = result match
    case Left(error: ScriptException) => error.getMessage
    case other => fail(s"$other")

  test("the run ends, also one that goes on, where statements may have been read otherwise"):
    def other(name: String, value: String) = s"SELECT set_config('$name', '$value', false);\n"
    val strings = "standard_conforming_strings"
    val inComment = "/* \u2014*/; DROP TABLE t; /* */\n"
    for (before, text, setting, line) <- List(
        (other(strings, "off"), "SELECT 'it\\'s; DROP TABLE t; --';\n", s"$strings is off", 2),
        (s"SET $strings = off;\n${other(strings, "on")}", "SELECT 1;\n", s"$strings is on", 3),
        (other(strings, "off"), "\\echo 'it\\'s'\n", s"$strings is off", 2),
        (other("client_encoding", "SJIS"), "SELECT '\u00e9';\n", "client_encoding is SJIS", 2),
        (other("client_encoding", "SJIS"), inComment, "client_encoding is SJIS", 2)
      )
    do
      for onError <- List(OnError.Stop, OnError.Continue) do
        val database = server.newDatabase()
        val script = s"CREATE TABLE t(); $before$text"
        val found = problem(apply(database, script, ApplyOptions(onError = onError)))
        val said = s" $setting in this session, which no statement of the script shows"
        assert(found.startsWith(s"s.sql:$line:") && found.endsWith(said), found)
        assertEquals(server.ask(database)("SELECT 't'::regclass"), "t")

  test("a COPY that is refused and has no data takes no statement, where the run goes on"):
    val database = server.newDatabase()
    val go = ApplyOptions(onError = OnError.Continue)
    val script = "CREATE TABLE u (a int);\nCOPY nosuch FROM stdin;\nINSERT INTO u VALUES (3);\n" +
      "COPY u (a) FROM stdin;\n1\n\\.\nINSERT INTO u VALUES (2);\n"
    assertEquals(apply(database, script, go).map(_.errors), Right(1L))
    assertEquals(server.ask(database)("SELECT sum(a) FROM u"), "6")
    val error = problem(apply(database, s"DROP TABLE u;\n$script", ApplyOptions()))
    assert(error.startsWith("s.sql:3:1: ERROR: relation \"nosuch\" does not exist"), error)

  test("a server that does not answer for long is told of, again and again, and what comes after"):
    val database = server.newDatabase()
    val told = CountDownLatch(2)
    @volatile var places = List.empty[Option[Position]]
    val listener = new ApplyListener:
      override def stalled(script: String, position: Option[Position], waited: FiniteDuration) =
        places = position :: places
        assert(waited >= 50.millis)
        told.countDown()
        if told.getCount == 0 then
          server.admin("postgres")(
            server.execute(
              _,
              "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            )
          )
    val options = ApplyOptions(stallAfter = 50.millis)
    val error = problem(apply(database, "SELECT 1;\nSELECT pg_sleep(1000);", options, listener))
    assert(error.startsWith("s.sql:2:1: ERROR: canceling"), error)
    assert(places.size >= 2 && places.forall(_.map(_.line).contains(2L)), places)
