package weir.cli.sql

import java.nio.file.Files

import munit.FunSuite

/** Tests the messages for errors. */
class SqlFailureSuite extends FunSuite with SqlFixture:

  folder.test("a statement that fails stops the script, and what came before it stays"): folder =>
    val url = newDatabase()
    val script = "CREATE TABLE t (a int);\nINSERT INTO\n\tu VALUES (1);\nCREATE TABLE v (a int);\n"
    val result = applied(folder, url, script)
    assertEquals(result.code, 3)
    assertEquals(result.out, "")
    val advice = "Begun with --resume, the same command would go on there."
    val rest = s"(100 % read); uncommitted statements are rolled back. $advice"
    assertEquals(
      result.err,
      s"""$folder/script.sql:3:2: ERROR: relation "u" does not exist
         |        u VALUES (1);
         |        ^
         |1 statement, 0 rows executed in ${placeOf(url)} $rest
         |""".stripMargin
    )
    assertEquals(
      query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
      Vector("t")
    )

  folder.test("after \\connect the second database is named"): folder =>
    val (first, second) = (newDatabase(), newDatabase())
    val name = placeOf(second).takeWhile(_ != ' ')
    val result = applied(folder, first, s"\\connect $name\nSELECT nosuch;\n")
    assertEquals(result.code, 3)
    assert(clue(result.err).contains(s"executed in ${placeOf(second)} "))

  folder.test("DETAIL and HINT are shown as the server gave them"): folder =>
    val script = "CREATE TABLE t (a int PRIMARY KEY);\nINSERT INTO t VALUES (1), (1);"
    val result = applied(folder, newDatabase(), script)
    assert(clue(result.err).contains("\nDETAIL: Key (a)=(1) already exists.\n"))
    val hint = applied(folder, newDatabase(), "SELECT nosuch('1')")
    assert(clue(hint.err).contains("\nHINT: No function matches"))

  folder.test(
    "of COPY data the line of the file is named, the column, and the value has the caret"
  ): folder =>
    val script = "CREATE TABLE t (a text, b int);\n\nCOPY t FROM stdin;\none\t1\ntwo\tzwei\n\\.\n"
    val result = applied(folder, newDatabase(), script)
    assertEquals(result.code, 3)
    assert(
      clue(result.err).startsWith(
        s"""$folder/script.sql:5:5: ERROR: invalid input syntax for type integer: "zwei" (column b)
             |two     zwei
             |        ^
             |CONTEXT: COPY t, line 2, column b: "zwei"
             |""".stripMargin
      )
    )

  folder.test("a row that a constraint refuses is named without a column"): folder =>
    val script = "CREATE TABLE t (a int CHECK (a > 0));\nCOPY t FROM stdin;\n1\n-7\n\\.\n"
    val result = applied(folder, newDatabase(), script)
    assert(clue(result.err).startsWith(s"$folder/script.sql:4: ERROR: new row for relation"))
    assert(clue(result.err).contains("\n-7\n"))

  folder.test("--on-error continue shows every error, counts them, and ends with 0"): folder =>
    val url = newDatabase()
    val script =
      "CREATE TABLE t (a int);\nSELECT x;\nCOPY t FROM stdin;\nbad\n\\.\nINSERT INTO t VALUES (1);"
    val result = applied(folder, url, script, "--on-error", "continue")
    assertEquals(result.code, 0)
    assert(clue(result.err).contains("script.sql:2:8: ERROR: column \"x\" does not exist\n"))
    assert(clue(result.err).contains("script.sql:4:1: ERROR: invalid input"))
    assert(clue(result.out).startsWith("2 statements, 1 row, 2 errors; "))
    assertEquals(query(url, "SELECT a FROM t"), Vector("1"))

  folder.test(
    "--json tells of a script that failed, too, in place of what an earlier run has left there"
  ): folder =>
    val json = write(folder, "results.json", "of an earlier run")
    val script = "CREATE TABLE t (a int);\nINSERT INTO t VALUES (1), (2);\nSELECT x;"
    assertEquals(applied(folder, newDatabase(), script, "--json", s"$json").code, 3)
    val results = ujson.read(Files.readString(json))("results").arr
    val figures = results.map(result => result("case").str -> result("value").num).toMap
    assertEquals((figures("statements"), figures("rows"), figures("errors")), (2.0, 2.0, 1.0))

  folder.test("--single-transaction applies all or nothing"): folder =>
    val url = newDatabase()
    val good = write(folder, "good.sql", "CREATE TABLE t (a int);")
    val bad = write(folder, "bad.sql", "INSERT INTO t VALUES (1);SELECT x;")
    val failed = weir("--db", url, "-1", s"$good", s"$bad")
    assertEquals(failed.code, 3)
    assert(clue(failed.err).contains("2 statements, 1 row executed"))
    assert(clue(failed.err).contains("rolled back: nothing has changed."))
    assertEquals(weir("--db", url, "--single-transaction", s"$good").code, 0)

  folder.test("a script that cannot be split looks like one that the server refuses"): folder =>
    val result = applied(folder, newDatabase(), "SELECT 1;\n  \\gset t\n")
    assertEquals(result.code, 3)
    assert(clue(result.err).startsWith(s"$folder/script.sql:2:3: ERROR: "))
    assert(clue(result.err).contains("\n  \\gset t\n  ^\n"))

  folder.test("a statement over --max-statement is refused with its place, and how to raise that"):
    folder =>
      val script = s"SELECT 1;\nSELECT '${"x" * 2000}';"
      val result = applied(folder, newDatabase(), script, "--max-statement", "1kB")
      assertEquals(result.code, 3)
      assert(clue(result.err).startsWith(s"$folder/script.sql:2:1: ERROR: "))
      assert(clue(result.err).contains("--max-statement"))

  folder.test("how --resume could have helped is said only where it could"): folder =>
    val advice = "Begun with --resume, the same command would go on there."
    def isAdvised(script: String, args: String*) =
      applied(folder, newDatabase(), script, args*).err.contains(advice)
    assert(isAdvised("SELECT 1;\nSELECT x;"))
    assert(!isAdvised("SELECT x;"))
    assert(!isAdvised("SELECT 1;\n'", "--on-error", "continue"))
    val result = weir("--db", "embedded", write(folder, "a.sql", "SELECT 1;\nSELECT x;").toString)
    assert(!clue(result.err).contains(advice))

  folder.test("--resume-at says what had been applied, if anything had been"): folder =>
    val url = newDatabase()
    val script = "SELECT x;\nCREATE TABLE t (a int);\nSELECT y;"
    assertEquals(applied(folder, url, script, "--resume-at", "2").code, 3)
    val again = applied(folder, url, script.replace("SELECT y", "SELECT 1"), "--resume-at", "3")
    assert(
      clue(again.err).matches(
        ".*script.sql: 2 statements, the last of them at 2:1, had been applied by .{23}; going " +
          "on where --resume-at says\n"
      )
    )
    val other = newDatabase()
    val failing = "SELECT x;\nSELECT 1;"
    assertEquals(applied(folder, other, failing, "--resume").code, 3)
    val behind = applied(folder, other, failing, "--resume-at", "2")
    assertEquals((behind.code, behind.err), (0, ""))

  folder.test("results that cannot be written are told as that, after the summary"): folder =>
    val result = applied(folder, newDatabase(), "SELECT 1;", "--json", "/dev/full")
    assertEquals(result.code, 1)
    assert(clue(result.out).startsWith("1 statement, 1 row;"))
    assert(clue(result.err).startsWith("--json /dev/full: it cannot be written (No space left"))

  folder.test("warnings of the server are shown where they came from"): folder =>
    val script = "SELECT 1;\nDO $$ BEGIN RAISE WARNING 'take care'; END $$;\n"
    val result = applied(folder, newDatabase(), script)
    assertEquals(result.code, 0)
    assert(clue(result.err).startsWith(s"$folder/script.sql:2:1: WARNING: take care\n"))

  folder.test("a flood of warnings is cut"): folder =>
    val script = "DO $$ BEGIN FOR i IN 1..1000 LOOP RAISE WARNING 'w'; END LOOP; END $$;\n"
    val result = applied(folder, newDatabase(), script)
    assertEquals(result.code, 0)
    assertEquals(result.err.linesIterator.count(_.contains("WARNING: w")), 100)
    assert(clue(result.err).endsWith("and 900 more of that kind\n"))

  folder.test("a server that is not there is one line with the place, and exit code 2"): folder =>
    val file = write(folder, "a.sql", "SELECT 1")
    val result = weir("--db", s"postgresql://me:secret@127.0.0.1:1/x", s"$file")
    assertEquals((result.code, result.out), (2, ""))
    assert(clue(result.err).contains("127.0.0.1:1"))
    assert(!clue(result.err).contains("secret"))
    val unknown = weir("--db", newDatabase().replace("/test", "/nosuch"), s"$file")
    assertEquals(unknown.code, 2)
    assert(clue(unknown.err).contains("does not exist"))

  folder.test("a connection that is lost half-way is exit code 2"): folder =>
    val script = "SELECT 1;\nSELECT pg_terminate_backend(pg_backend_pid());\nSELECT 2;"
    for args <- List(Nil, Seq("--on-error", "continue")) do
      val result = applied(folder, newDatabase(), script, args*)
      assertEquals(result.code, 2, result.err)
      assert(clue(result.err).startsWith(s"$folder/script.sql:2:1: FATAL: "))

  folder.test("bad input is one line that names the place, exit code 1, and no change"): folder =>
    val url = newDatabase()
    val good = write(folder, "good.sql", "CREATE TABLE t ();").toString
    val dump = write(folder, "dump", "PGDMP.....").toString
    val folderDump = Files.createDirectory(folder.resolve("dumps"))
    write(folderDump, "toc.dat", ""): Unit
    for (args, place) <- List(
        Seq() -> "weir sql:",
        Seq(s"$folder") -> s"$folder:",
        Seq(good, s"$folder/none") -> s"$folder/none:",
        Seq(dump) -> s"$dump:",
        Seq(s"$folderDump") -> s"$folderDump:",
        Seq("-", "-") -> "-:",
        Seq(good, "--on-error", "ignore") -> "--on-error:",
        Seq(good, "--jobs", "0") -> "--jobs:",
        Seq(good, "--jobs", "2", "-1") -> "--jobs 2:",
        Seq(good, "-1", "--on-error", "continue") -> "--on-error continue:",
        Seq("-", "--resume") -> "--resume:",
        Seq(good, "--resume", "--on-error", "continue") -> "--resume:",
        Seq(good, "--resume", "--db", "embedded") -> "--resume:",
        Seq(good, s"$folder/./good.sql", "--resume") -> s"--resume: $good is named twice",
        Seq(good, "--resume-at", "here") -> "--resume-at:",
        Seq(good, good, "--resume-at", "3") -> "--resume-at:",
        Seq(good, "--prefetch", "lots") -> "--prefetch:",
        Seq(good, "--max-statement", "16") -> "--max-statement:",
        Seq(good, "--slowest", "few") -> "--slowest:",
        Seq(good, "--keep") -> "--keep:",
        Seq(good, "--json", s"$folder/none/x.json") -> s"--json $folder/none/x.json:",
        Seq(good, "--db", "jdbc:mysql://x/y") -> "--db: the",
        Seq(good, "--db", "postgresql://x:y/z") -> "--db: the port was y.",
        Seq(good, "") -> "FILE:",
        Seq(good, "--bogus") -> "weir sql:"
      )
    do
      val withDb = if args.contains("--db") || args.isEmpty then args else Seq("--db", url) ++ args
      val result = weir(withDb*)
      assertEquals(result.code, 1, s"$args $result")
      assertEquals(result.out, "", s"$args")
      assertEquals(result.err.linesIterator.size, 1, s"$args: ${result.err}")
      assert(result.err.startsWith(place), s"$args: ${result.err}")
    assertEquals(
      query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
      Vector()
    )
