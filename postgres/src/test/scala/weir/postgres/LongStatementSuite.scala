package weir.postgres

import java.io.ByteArrayInputStream

/** Statements that are too long for the memory, which here is 1000 bytes. */
class LongStatementSuite extends ServerSuite:
  private val limits = ScriptLimits(memoryBytes = 1000)
  private val long = "añ€😀\n" * 60_000 // 780,000 bytes

  private def script(text: String) =
    SqlScript.fromInputStream("s.sql", limits)(ByteArrayInputStream(text.getBytes("UTF-8")))

  private def apply(url: String, text: String, options: ApplyOptions = ApplyOptions()) =
    ScriptConnection.open(url).use(script(text).applyTo(_, options)).runSync()

  private def error(url: String, text: String, options: ApplyOptions = ApplyOptions()) =
    intercept[ScriptException](apply(url, text, options))

  over("a long statement is sent as it is, between others"): (database, url) =>
    val summary = apply(
      url,
      s"CREATE TABLE t (n int, s text);\nINSERT INTO t VALUES (1, '$long');\n" +
        s"INSERT INTO t VALUES (2, 'x');\n" +
        s"/* $long */ INSERT INTO t VALUES (3, $$a$$$long$$a$$);\n" +
        s"/* $long */;\nINSERT INTO t\n  VALUES (4, 'y')"
    )
    assertEquals((summary.statements, summary.rows), (5L, 4L))
    val asked = server.ask(database)("SELECT string_agg(n || md5(s), ',' ORDER BY n) FROM t")
    def md5(text: String) = server.ask(database)(s"SELECT md5('$text')")
    assertEquals(asked, s"1${md5(long)},2${md5("x")},3${md5(long)},4${md5("y")}")

  over("the server's error position in a long statement is a position in the file"): (_, url) =>
    for (encoding, chars) <- List("UTF8" -> "ä€\n", "LATIN1" -> "äö\n") do
      val text = s"SET client_encoding = '$encoding';\n\n  SELECT '${chars * 50_000}ä', nix, 'é';\n"
      val bytes = text.getBytes(if encoding == "UTF8" then "UTF-8" else "ISO-8859-1")
      val script = SqlScript.fromInputStream("s.sql", limits)(ByteArrayInputStream(bytes))
      val failed = intercept[ScriptException](
        ScriptConnection.open(url).use(script.applyTo(_)).runSync()
      )
      val place = failed.position.map(at => (at.line, at.column))
      assertEquals(place, Some((50_003L, 5L)), encoding)
      val before = bytes.indexOfSlice("nix".getBytes)
      assertEquals(failed.position.map(_.offset), Some(before.toLong), encoding)

  over("variables, an escaped semicolon in parentheses and \\gset in a long statement"):
    (database, url) =>
      apply(
        url,
        s"\\set a 'b c'\nSELECT '$long' || :'a' AS \"x\", (SELECT :'a' /* $long */) AS y, 2 AS n " +
          s"\\gset p_\nCREATE TABLE t AS SELECT :'p_x' AS x, :'p_y' AS y, :p_n AS n;"
      ): Unit
      val asked = server.ask(database)("SELECT right(x, 4) || length(x) || y || n FROM t")
      assertEquals(asked, "\nb c" + (240_000 + 60_000 + 3) + "b c2")

  test("errors in a long statement, and those that it hides, with --on-error continue"):
    val database = server.newDatabase()
    val summary = apply(
      server.unix(database),
      s"CREATE TABLE t (s text);\nINSERT INTO t VALUES ('$long', 1);\nINSERT INTO t VALUES " +
        s"('$long');\nSELECT nix;\nINSERT INTO t VALUES ('x');",
      ApplyOptions(onError = OnError.Continue, pipeline = true)
    )
    assertEquals((summary.statements, summary.errors), (3L, 2L))
    assertEquals(server.ask(database)("SELECT count(*) FROM t"), "2")

  test("what is open in a long statement is named by its place"):
    val url = server.unix(server.newDatabase())
    for (text, place) <- List(
        s"SELECT '$long'\n, 'ä" -> "s.sql:60002:3: unterminated string literal",
        s"SELECT ('$long'\n, 'ä'" -> "s.sql:1:8: unclosed \"(\"",
        s"SELECT ${"/**/" * 999}(\n;" -> "s.sql:1:4004: unclosed \"(\""
      )
    do assertEquals(error(url, text).getMessage, place)

  test("long statements over several connections, with a journal, and in one transaction"):
    val text = s"CREATE TABLE t (s text);\nINSERT INTO t VALUES ('$long');\nCOPY t FROM STDIN;\n" +
      s"1\n\\.\nINSERT INTO t VALUES ('$long');\n"
    for options <- List(
        ApplyOptions(singleTransaction = true),
        ApplyOptions(resume = Some(Resume()))
      )
    do
      val database = server.newDatabase()
      apply(server.unix(database), text, options): Unit
      assertEquals(server.ask(database)("SELECT count(*) FROM t"), "3")
    val database = server.newDatabase()
    val url = server.unix(database)
    val jobs = MoreConnections(2, ScriptConnection.open(url))
    apply(url, text, ApplyOptions(jobs = Some(jobs))): Unit
    assertEquals(server.ask(database)("SELECT count(*) FROM t"), "3")

  test("a run with a journal goes on after a long statement, and at one"):
    val database = server.newDatabase()
    val url = server.unix(database)
    val first = s"CREATE TABLE t (s text);\nINSERT INTO t VALUES ('$long');\n"
    def second(value: String) =
      s"INSERT INTO t SELECT '$long' FROM $value;\nINSERT INTO t VALUES ('y');"
    val options = ApplyOptions(resume = Some(Resume()))
    val failed = error(url, first + second("nix"), options)
    assert(
      failed.getMessage.startsWith("s.sql:120003:8: ERROR: relation \"nix\""),
      failed.getMessage
    )
    val changed = first.replace("ñ", "n")
    assert(error(url, changed + second("t"), options).problem.contains("has changed"))
    apply(url, first + second("t"), options): Unit
    apply(url, first + second("t"), options): Unit
    assertEquals(server.ask(database)("SELECT count(*) FROM t"), "3")

  test("a COPY, and joined statements, have to fit into memory"):
    val url = server.unix(server.newDatabase())
    val many = "SELECT 1\\;\n" * 200
    for (text, problem) <- List(
        s"CREATE TABLE t (s text);\nCOPY t FROM STDIN WHERE s <> '$long';\n1\n\\.\n" ->
          "s.sql:2:1: COPY … FROM STDIN of more than 1000 bytes",
        s"SELECT 0;\n${many}COMMIT;" ->
          "s.sql:2:1: statements joined by \\; of more than 1000 bytes"
      )
    do assertEquals(error(url, text).getMessage, problem)

  test("over a driver's connection, a long statement is sent from memory"):
    val database = server.newDatabase()
    server.admin(database): connection =>
      ScriptConnection
        .of(connection)
        .flatMap(script(s"CREATE TABLE t AS SELECT '$long' AS s").applyTo(_))
        .runSync(): Unit
    assertEquals(server.ask(database)("SELECT length(s) FROM t"), "300000")

  test("a library gets all bytes of a long statement, which takes no memory"):
    val text = s"SELECT 1; /* é */ SELECT '$long'"
    val pieces = script(text).pieces.toList.runSync()
    val statement = pieces.last.asInstanceOf[Piece.Statement]
    assert(!statement.isWhole)
    assertEquals(String(statement.text, "UTF-8").take(11), "SELECT 'añ€")
    assertEquals(statement.text.length, 256 << 10)
    val all = java.io.ByteArrayOutputStream()
    statement.foreachBlock(all.write(_, 0, _))
    assertEquals(all.toString("UTF-8"), text.drop(10))
    statement.discard()
