package weir.postgres.psql

import scala.concurrent.duration.*
import weir.Tier

/** Weir does with any script what psql does with it. */
class PsqlEquivalenceSuite extends NeedsPrograms:
  override def munitTimeout: Duration = 2.hours

  private val psql = Programs.find("psql")
  private lazy val server = LoggedServer.shared
  private lazy val comparison =
    List("by_psql", "by_weir").foreach(server.create)
    Comparison(server, PsqlRunner(server, psql.get))

  private val seed = Tier.seed("weir.sql.seed")
  private val scripts = Tier.size("weir.sql.scripts", 8, 15)

  protected def missing: Option[String] =
    Option.when(psql.isEmpty)("There is no psql on this machine.")

  for mode <- Mode.values do
    test(s"random scripts: the same statements, errors, rows and outcome as with psql, $mode"):
      for i <- 0 until scripts do check(seed + i, mode, 0)

  for blockBytes <- List(1, 2, 3, 7) do
    test(s"random scripts that are read $blockBytes bytes at a time"):
      for i <- 0 until (scripts / 8).max(2) do check(seed + i, Mode.Stop, blockBytes)

  test(
    "a script sees the settings that it sees under psql, those of the role and the database, too"
  ):
    val settings = """CREATE TABLE seen AS SELECT name, setting, reset_val FROM pg_settings
      WHERE name NOT IN ('application_name', 'client_min_messages');
      CREATE TABLE dates AS SELECT timestamptz '2024-07-01 00:00' AS a, date '03/04/2024' AS b;
      SET DateStyle = 'German, DMY';
      CREATE TABLE more AS SELECT (date '05/06/2024')::text AS c,
        current_setting('DateStyle') AS d;"""
    for
      set <- List(
        "datestyle = 'SQL, DMY'",
        "timezone = 'America/Caracas'",
        "extra_float_digits = 0"
      )
      database <- List("by_psql", "by_weir")
    do
      comparison: Unit
      server.execute("postgres", s"ALTER DATABASE $database SET $set")
    val script = Script(Vector(Script.Part(settings)))
    try assertEquals(comparison.difference(script, Mode.Stop, WeirRunner(server)), None)
    finally
      List("by_psql", "by_weir").foreach(name =>
        server.execute("postgres", s"ALTER DATABASE $name RESET ALL")
      )

  for (how, weir) <- List[(String, () => ScriptRunner)](
      "with a journal" -> (() => WeirRunner(server, resumes = true)),
      "over two connections" -> (() => WeirRunner(server, jobs = 2))
    )
  do
    test(s"random scripts $how: the same rows and outcome as with psql"):
      for i <- 0 until scripts do
        judge(seed + i, Mode.Stop, comparison.differenceLeft(_, Mode.Stop, weir()))

  test("an error is at the place in the file that the server means"):
    for i <- 0 until scripts do
      judge(seed + i, Mode.Stop, comparison.misplaced(_, WeirRunner(server)))

  for copy <- List("COPY t FROM STDOUT", "COPY t FROM PROGRAM 'echo 3'") do
    test(s"as with psql: $copy"):
      val data = if copy.contains("PROGRAM") then "" else "1\n2\n\\.\n"
      val sql = s"CREATE TABLE t (a int);\n$copy;\n${data}INSERT INTO t VALUES (4);\n"
      val script = Script(Vector(Script.Part(sql)))
      assertEquals(comparison.difference(script, Mode.Stop, WeirRunner(server)), None)

  test("a COPY with data that is joined to another statement is refused before it is sent"):
    val sql = "CREATE TABLE t (a int);\nSELECT 1\\; COPY t FROM STDIN;\n1\n\\.\n"
    val effect = comparison.effect(WeirRunner(server), "by_weir", sql.getBytes, Mode.Stop)
    assert(effect.failure.exists(_.contains(":2:")), effect.failure.toString)
    assert(!effect.events.exists(_.toString.contains("COPY")), effect.events.toString)

  private def check(seed: Long, mode: Mode, blockBytes: Int): Unit =
    judge(seed, mode, comparison.difference(_, mode, WeirRunner(server, blockBytes)))

  private def judge(seed: Long, mode: Mode, difference: Script => Option[String]): Unit =
    val all = RandomScript(seed)
    val script =
      if mode != Mode.Single then all
      else all.copy(parts = all.parts.filterNot(_.endsTransaction))
    difference(script).foreach { first =>
      val small = Shrinking(script)(difference(_).isDefined)
      val found = difference(small).getOrElse(s"nothing any more. It was $first")
      fail(
        s"-Dweir.sql.seed=$seed -Dweir.sql.scripts=1, $mode: $found\n\nThe script:\n${small.show}"
      )
    }
