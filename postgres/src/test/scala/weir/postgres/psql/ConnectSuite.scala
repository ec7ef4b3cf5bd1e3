package weir.postgres.psql

import java.io.ByteArrayInputStream
import scala.collection.mutable
import weir.postgres.*

/** `\connect` together with the options of a run, and where it fails. */
class ConnectSuite extends ServerSuite:

  private final class Told extends ApplyListener:
    val told = mutable.ListBuffer.empty[String]
    override def printed(script: String, text: String, isForErrors: Boolean): Unit = told += text
    override def failed(error: ScriptException): Unit = told += error.getMessage

  private def apply(
      url: String,
      text: String,
      options: String => ApplyOptions = _ => ApplyOptions()
  ): (List[String], Either[Throwable, ApplySummary]) =
    val told = Told()
    val script = SqlScript.fromInputStream("s.sql")(ByteArrayInputStream(text.getBytes("UTF-8")))
    val end =
      ScriptConnection.open(url).use(script.applyTo(_, options(url), told)).attempt.runSync()
    (told.told.toList, end)

  private def problemOf(end: Either[Throwable, ApplySummary]): String =
    end.fold(_.getMessage, summary => fail(s"It has not failed: $summary"))

  over("the session goes on in the other database, over the same kind of connection"):
    (name, url) =>
      val other = server.newDatabase()
      val script = s"CREATE TABLE a();\n\\c $other\nCREATE TABLE b();\n\\echo :DBNAME :PORT\n" +
        "SELECT ssl AS tls FROM pg_stat_ssl WHERE pid = pg_backend_pid() \\gset\n" +
        "\\echo :tls\n"
      val (told, end) = apply(url, script)
      val isTls = if url.contains("verify-full") then "t" else "f"
      assertEquals((told, end.isRight), (List(s"$other ${server.port}\n", s"$isTls\n"), true))
      val tables = "SELECT string_agg(relname, ',') FROM pg_class WHERE relnamespace = " +
        "'public'::regnamespace"
      assertEquals((server.ask(name)(tables), server.ask(other)(tables)), ("a", "b"))

  test("the connection before is closed, also the one that was given"):
    val (first, second) = (server.newDatabase(), server.newDatabase())
    val script = s"\\c $second\nDROP DATABASE $first;\n\\c postgres\nDROP DATABASE $second;\n" +
      s"CREATE DATABASE $first;\nCREATE DATABASE $second;"
    assert(apply(server.unix(first), script)._2.isRight)

  test("a connection that is refused ends the run, also one that goes on after errors"):
    val url = server.unix(server.newDatabase())
    val script = "SELECT 1;\n\\c nowhere\n\\echo not printed\n"
    for options <- List(ApplyOptions(), ApplyOptions(onError = OnError.Continue)) do
      val (told, end) = apply(url, script, _ => options)
      val problem = problemOf(end)
      assert(problem.startsWith("s.sql:2:1: \\connect: "), problem)
      assert(problem.contains("database \"nowhere\" does not exist"), problem)
      val isLost = end.left.toOption.collect { case e: ScriptException =>
        e.server.get.connectionLost
      }
      assertEquals((told, isLost), (Nil, Some(true)))

  test("an open transaction would be rolled back: an error, which ends each run"):
    for onError <- List(OnError.Stop, OnError.Continue) do
      val database = server.newDatabase()
      val script = "BEGIN;\nCREATE TABLE t();\n\\c -\nCREATE TABLE u();\nCOMMIT;"
      val (_, end) = apply(server.unix(database), script, _ => ApplyOptions(onError = onError))
      assertEquals(
        problemOf(end),
        "s.sql:3:1: \\connect in the middle of a transaction, which would be rolled back"
      )
      val tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
      assertEquals(server.ask(database)(tables), "0")

  test("refused with a journal and with one transaction, once the statements before it have run"):
    for (options, name) <- List(
        ApplyOptions(singleTransaction = true) -> "--single-transaction",
        ApplyOptions(resume = Some(Resume())) -> "--resume"
      )
    do
      val (told, end) =
        apply(server.unix(server.newDatabase()), "\\echo a\n\\c -\n\\echo b\n", _ => options)
      val problem = s"s.sql:2:1: \\connect cannot be used together with $name"
      assertEquals((told, problemOf(end)), (List("a\n"), problem))

  test("with several connections a COPY goes over one of them after it, into the new database"):
    val (first, second) = (server.newDatabase(), server.newDatabase())
    val rows = (1 to 5000).map(i => s"$i\n").mkString
    def copy(table: String) =
      s"CREATE TABLE $table (i int);\nCOPY $table FROM stdin;\n$rows\\.\n"
    val script = copy("a") + s"\\c $second\nDROP DATABASE $first;\n" + copy("a") +
      s"CREATE DATABASE $first;\n"
    val (_, end) = apply(
      server.unix(first),
      script,
      url => ApplyOptions(jobs = Some(MoreConnections(3, ScriptConnection.open(url), _ => 64)))
    )
    assertEquals(end.map(_.parallelCopies), Right(1L))
    assertEquals(server.ask(second)("SELECT count(*) FROM a"), "5000")

  test("an address that was not one of libpq's has no parts to keep"):
    for onError <- List(OnError.Stop, OnError.Continue) do
      val url = server.jdbc(server.newDatabase())
      val (_, end) = apply(url, "\\c -\nSELECT 1;\n", _ => ApplyOptions(onError = onError))
      val problem =
        "s.sql:1:1: \\connect needs a connection that was opened by a postgresql:// address"
      assertEquals(problemOf(end), problem)

  test("refused: an address with more beside it, a bad address, a bad -reuse-previous"):
    val url = server.unix(server.newDatabase())
    for (arguments, problem) <- List(
        "dbname=a b" -> "\\connect with an address, and with a user, a host or a port beside it",
        "'nonsense=1'" -> "\\connect: the address has the parameter nonsense, which is not",
        "-reuse-previous=x a" -> "\"x\" is no value of -reuse-previous"
      )
    do
      for onError <- List(OnError.Stop, OnError.Continue) do
        val options = ApplyOptions(onError = onError)
        val found = problemOf(apply(url, s"\\c $arguments\n", _ => options)._2)
        assert(found.startsWith(s"s.sql:1:1: $problem"), found)

  test("the password is kept for the same server and user only"):
    val before = Map("host" -> "a", "port" -> "5432", "user" -> "u", "password" -> "p")
    def passwordAfter(change: (String, String)*) =
      PostgresUrl.changed(before, change.toMap, Map("PGPASSFILE" -> "/dev/null")).password
    assertEquals(passwordAfter("dbname" -> "x"), Some("p"))
    assertEquals(passwordAfter("dbname" -> "x", "user" -> "u", "host" -> "a"), Some("p"))
    for other <- List("user" -> "v", "host" -> "b", "port" -> "5433") do
      assertEquals(passwordAfter(other), None, other)
    val usual = Map("PGPASSFILE" -> "/dev/null", "PGPASSWORD" -> "q")
    assertEquals(PostgresUrl.changed(before, Map("user" -> "v"), usual).password, Some("q"))
