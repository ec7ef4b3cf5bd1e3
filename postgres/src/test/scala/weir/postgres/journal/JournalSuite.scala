package weir.postgres.journal

import weir.postgres.*
import weir.postgres.input.ScriptSource

class JournalSuite extends ResumeSuite:
  private val text =
    """CREATE TABLE t (a int);
      |INSERT INTO t VALUES (1);
      |COPY t FROM STDIN;
      |2
      |3
      |\.
      |BEGIN;
      |INSERT INTO t VALUES (4);
      |INSERT INTO t VALUES (5);
      |COMMIT;
      |INSERT INTO t VALUES (6);
      |""".stripMargin
  private val all = "123456"
  private def numbers(database: String) =
    ask(database)("SELECT string_agg(a::text, '' ORDER BY a) FROM t")

  test("a script is applied once, and its journal says so"):
    val database = server.newDatabase()
    assertEquals(apply(database, text).statements, 8L)
    assertEquals(numbers(database), all)
    assertEquals(
      journal(database)("pieces || ' ' || bytes || ' ' || place"),
      s"8 ${text.length - 1} 11:1"
    )
    assertEquals(journal(database)("finished IS NOT NULL"), "t")

  test("the journal needs no right to make schemas where its own is there"):
    for rights <- List(
        "CREATE SCHEMA weir_sql AUTHORIZATION journal_user",
        "SELECT 1"
      )
    do
      val database = server.newDatabase()
      def admin(sql: String*) = server.admin(database)(a => sql.foreach(server.execute(a, _)))
      admin(
        "DROP ROLE IF EXISTS journal_user",
        "CREATE ROLE journal_user LOGIN",
        "CREATE SCHEMA own AUTHORIZATION journal_user",
        rights
      )
      if rights == "SELECT 1" then
        apply(database, "SELECT 1;", name = "first.sql"): Unit // makes the tables
        admin(
          "GRANT USAGE ON SCHEMA weir_sql TO journal_user",
          "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA weir_sql TO journal_user"
        )
      val url = server.unix(database).replace("postgres@", "journal_user@")
      val script = "CREATE TABLE own.t (a int);\nCOPY own.t FROM STDIN;\n1\n\\.\n"
      val done = ScriptConnection.open(url).use(applying(_, script, resuming)).runSync()
      assertEquals(done.statements, 2L)
      val applied = "SELECT pieces FROM weir_sql.journal WHERE script NOT LIKE '%first%'"
      assertEquals(ask(database)(applied), "2")
      admin("DROP OWNED BY journal_user", "DROP ROLE journal_user")

  test("a script that has been applied is not applied again, and nothing is done"):
    val database = server.newDatabase()
    apply(database, text): Unit
    val summary = apply(database, text)
    assertEquals((summary.statements, summary.rows), (0L, 0L))
    assertEquals(numbers(database), all)

  private def scripts(named: (String, String)*) = named.toList.map((name, text) =>
    SqlScript.fromInputStream(name)(java.io.ByteArrayInputStream(text.getBytes))
  )

  private def applyAll(database: String, resume: Resume, scripts: List[SqlScript]) =
    ScriptConnection
      .open(server.unix(database))
      .use(SqlScripts.applyTo(_, scripts, ApplyOptions(resume = Some(resume))))
      .runSync()
      .statements

  test("two scripts called the same in the journal are refused: the second would be left out"):
    val database = server.newDatabase()
    val both = scripts("x/s.sql" -> "SELECT 1", "y/s.sql" -> "SELECT 2")
    val error =
      intercept[IllegalArgumentException](applyAll(database, Resume(name = Resume.fileName), both))
    assert(error.getMessage.contains("the name s.sql"), error.getMessage)

  test("files of one name in two folders are two scripts, at once and one after the other"):
    val (one, two) = ("CREATE TABLE t (a int); SELECT 1", "INSERT INTO t VALUES (1); SELECT 2")
    val both = server.newDatabase()
    assertEquals(applyAll(both, Resume(), scripts("v1/s.sql" -> one, "v2/s.sql" -> two)), 4L)
    val each = server.newDatabase()
    assertEquals(applyAll(each, Resume(), scripts("v1/s.sql" -> one)), 2L)
    assertEquals(applyAll(each, Resume(), scripts("v2/s.sql" -> two)), 2L)
    assertEquals(applyAll(each, Resume(), scripts("./v1/../v1/s.sql" -> one)), 0L)

  test("a file is known by where it is, however it is called"):
    val database = server.newDatabase()
    val there = java.nio.file.Path.of("v1/s.sql").toAbsolutePath.toString
    assertEquals(applyAll(database, Resume(), scripts("v1/s.sql" -> "SELECT 1;")), 1L)
    assertEquals(applyAll(database, Resume(), scripts(there -> "SELECT 1; SELECT 2")), 1L)

  test("a row of a former version, which knew a file by its name alone, is gone on with"):
    val database = server.newDatabase()
    val (one, two) = ("CREATE TABLE t (a int); ", "INSERT INTO t VALUES (1); ")
    // As that version has written it.
    applyAll(database, Resume(name = Resume.fileName), scripts("v1/s.sql" -> one)): Unit
    assertEquals(journal(database)("script || ' ' || position(' ' in run)"), "s.sql 0")
    val other = intercept[ScriptException](
      applyAll(database, Resume(), scripts("v2/s.sql" -> "SELECT 1"))
    )
    assert(other.problem.contains("has"), other.problem)
    assertEquals(applyAll(database, Resume(), scripts("v1/s.sql" -> (one + two))), 1L)
    assertEquals(journal(database)("script"), "v1/s.sql")
    assertEquals(applyAll(database, Resume(), scripts("v2/s.sql" -> two)), 1L)
    assertEquals(ask(database)("SELECT count(*) FROM t"), "2")

  test("a damaged journal is one error that says what is wrong, and what to do"):
    for (damage, problem) <- List(
        "ALTER TABLE weir_sql.journal DROP COLUMN bytes" ->
          "there is no journal.bytes of type bigint",
        "ALTER TABLE weir_sql.journal ALTER pieces DROP DEFAULT, ALTER pieces TYPE text" ->
          "there is no journal.pieces of type bigint",
        "DROP TABLE weir_sql.part" -> "there is no part.script of type text",
        "UPDATE weir_sql.journal SET checksum = 'x'" ->
          "the row of s.sql holds what no run has written: checksum is x",
        "UPDATE weir_sql.journal SET pieces = -1" -> "pieces is -1",
        "UPDATE weir_sql.journal SET settings = 'nonsense'" -> "a setting that it has cannot be set"
      )
    do
      val database = server.newDatabase()
      apply(database, "SELECT 1;"): Unit
      server.admin(database)(server.execute(_, damage))
      val error = refused(database, "SELECT 1; SELECT 2;")
      assert(error.problem.contains("the journal in the database is damaged"), error.problem)
      assert(error.problem.contains(problem), error.problem)
      assert(error.hint.exists(_.contains("DROP SCHEMA weir_sql CASCADE")), error.hint)

  test("of a COPY that had been applied no lines are told as sent"):
    val database = server.newDatabase()
    val script = "CREATE TABLE t (a int);\nCOPY t FROM STDIN;\n" + "7\n" * 50_000 + "\\.\n"
    for isFirst <- List(true, false) do
      var told = false
      val listener = new ApplyListener:
        override def copying(script: String, statement: Piece.Statement, lines: Long): Unit =
          told = true
      apply(database, script, listener = listener): Unit
      assertEquals(told, isFirst)

  test("a script that was cut off after any of its statements goes on after it"):
    for statements <- 1 to 8 do
      val database = server.newDatabase()
      dies(database, text, statements)
      apply(database, text): Unit
      assertEquals(numbers(database), all, s"$statements")
      assertEquals(journal(database)("pieces"), "8")

  test("a script whose lines are echoed goes on after any of its statements"):
    // The last line is in several blocks.
    val comment = "/*" + "-" * ScriptSource.BlockBytes + "*/"
    val statements = (1 to 3).map(i => s"INSERT INTO t VALUES ($i); $comment")
    val script = s"\\set ECHO all\nCREATE TABLE t (a int);\n${statements.mkString(" ")}\n"
    for count <- 1 to 3 do
      val database = server.newDatabase()
      dies(database, script, count)
      apply(database, script): Unit
      assertEquals(numbers(database), "123", s"$count")

  test("a script that fails goes on at the statement that failed, once that is mended"):
    val database = server.newDatabase()
    val bad = text.replace("VALUES (6)", "VALUES ('x')")
    val error = refused(database, bad)
    assertEquals(error.position.map(_.line), Some(11L))
    assertEquals(numbers(database), "12345")
    assertEquals(apply(database, text).statements, 1L)
    assertEquals(numbers(database), all)

  test(
    "of a transaction of the script that fails nothing is left, and it is run again from its BEGIN"
  ):
    val database = server.newDatabase()
    refused(database, text.replace("VALUES (5)", "VALUES ('x')")): Unit
    assertEquals(numbers(database), "123")
    assertEquals(apply(database, text).statements, 5L)
    assertEquals(numbers(database), all)

  test("of a COPY that fails nothing is left, and it is run again"):
    val database = server.newDatabase()
    val error = refused(database, text.replace("\n3\n", "\nx\n"))
    assertEquals(error.position.map(_.line), Some(5L))
    assertEquals(numbers(database), "1")
    assertEquals(apply(database, text).statements, 6L)
    assertEquals(numbers(database), all)

  test("a script that has changed in what was applied is refused, and nothing is done"):
    for (from, to) <- Seq(
        "VALUES (1)" -> "VALUES (9)",
        "\n2\n" -> "\n7\n",
        "CREATE" -> "-- a comment\nCREATE",
        "INSERT INTO t VALUES (1);\n" -> ""
      )
    do
      val database = server.newDatabase()
      dies(database, text, 4)
      val before = ask(database)("SELECT xmin FROM weir_sql.journal")
      val error = refused(database, text.replace(from, to))
      assert(error.getMessage.contains("has changed up to the statement at 3:1"), error.getMessage)
      assertEquals(
        (numbers(database), ask(database)("SELECT xmin FROM weir_sql.journal")),
        ("123", before)
      )

  test("a script that has become shorter than what was applied is refused"):
    val database = server.newDatabase()
    apply(database, text): Unit
    val error = refused(database, text.take(text.indexOf("BEGIN")))
    assert(error.getMessage.contains("has 3 statements now, and 8"), error.getMessage)

  test("a script may change and grow after what was applied"):
    val database = server.newDatabase()
    dies(database, text, 4)
    apply(database, text.replace("(4)", "(7)")): Unit
    assertEquals(numbers(database), "123567")
    assertEquals(
      apply(database, text.replace("(4)", "(7)") + "INSERT INTO t VALUES (8);").statements,
      1L
    )
    assertEquals(numbers(database), "1235678")

  test(
    "a file that says the same as one of that name elsewhere is asked about: it may have been moved"
  ):
    val folder = java.nio.file.Files.createTempDirectory("weir-moved")
    def file(name: String, text: String) =
      val path = folder.resolve(name)
      java.nio.file.Files.createDirectories(path.getParent): Unit
      SqlScript.file(java.nio.file.Files.writeString(path, text))
    val text = "CREATE TABLE t (a int);\n"
    val database = server.newDatabase()
    assertEquals(applyAll(database, Resume(), List(file("v1/s.sql", text))), 1L)
    assertEquals(applyAll(database, Resume(), List(file("v2/s.sql", "SELECT 1;"))), 1L)
    val moved = file("v3/s.sql", text + "SELECT 1;\n")
    val error = intercept[ScriptException](applyAll(database, Resume(), List(moved)))
    assert(error.problem.contains(s"has a script $folder/v1/s.sql, of which 1 st"), error.problem)
    val told = error.hint.get
    server.admin(database)(
      server.execute(_, told.substring(told.indexOf("UPDATE"), told.indexOf(". If it is another")))
    )
    assertEquals(applyAll(database, Resume(), List(moved)), 1L)
    val again = List(file("v4/s.sql", "SELECT 1;"))
    intercept[ScriptException](applyAll(database, Resume(), again)): Unit
    val first = Resume(at = Resume.Place.parse("1"))
    assertEquals(applyAll(database, first, again), 1L)
    assertEquals(applyAll(database, Resume(), again), 0L)
    val both = List("x/two.sql", "y/two.sql").map(file(_, "SELECT 1;"))
    assertEquals(applyAll(database, Resume(), both), 2L)
    assertEquals(applyAll(database, Resume(), both), 0L)

  test("as one transaction, all scripts are applied or none"):
    val database = server.newDatabase()
    val single = resuming.copy(singleTransaction = true)
    val plain = text.replace("BEGIN;\n", "\n").replace("COMMIT;\n", "\n")
    refused(database, plain.replace("(6)", "('x')"), single): Unit
    assertEquals(ask(database)("SELECT to_regclass('t') IS NULL"), "t")
    assertEquals(apply(database, plain, single).statements, 6L)
    assertEquals(numbers(database), all)
    assertEquals(apply(database, plain, single).statements, 0L)
    assertEquals(apply(database, plain + "INSERT INTO t VALUES (7);", single).statements, 1L)
    assertEquals(numbers(database), all + "7")

  test("a script that ends in the middle of a transaction is refused"):
    val database = server.newDatabase()
    val error = refused(database, "CREATE TABLE t (a int);\nBEGIN;\nINSERT INTO t VALUES (1);\n")
    assert(error.getMessage.contains("in the middle of a transaction"), error.getMessage)
    assertEquals(journal(database)("pieces"), "1")

  test("tables of another program with the journal's name are not touched"):
    val database = server.newDatabase()
    server.admin(database) { connection =>
      server.execute(connection, "CREATE SCHEMA weir_sql")
      server.execute(connection, "CREATE TABLE weir_sql.journal (a int)")
    }
    assert(refused(database, text).getMessage.contains("is not weir's"))
    assertEquals(ask(database)("SELECT to_regclass('t') IS NULL"), "t")

  test("a journal of another version of weir is refused"):
    val database = server.newDatabase()
    apply(database, text): Unit
    for version <- List(1, 999) do
      server.admin(database)(
        server.execute(_, s"COMMENT ON TABLE weir_sql.journal IS 'weir sql journal $version'")
      )
      assert(refused(database, text).getMessage.contains("another version of weir"))

  test("a statement that was joined with a COMMIT, and PREPARE TRANSACTION, are refused"):
    val database = server.newDatabase()
    val joined = refused(database, "SELECT 1 \\; COMMIT;")
    assert(joined.getMessage.contains("joined"), joined.getMessage)
    val prepared = refused(database, "BEGIN;\nPREPARE TRANSACTION 'x';")
    assertEquals(prepared.position.map(_.line), Some(2L))
