package weir.postgres.jobs

import scala.util.Random
import weir.postgres.*
import weir.postgres.journal.ResumeSuite

class JobsSuite extends ResumeSuite:
  private val head = "CREATE TABLE t (a int, b text);\nCOPY t FROM STDIN;\n"

  /** Rows of over four hundred bytes: of five thousand of them the data is cut. */
  private def data(rows: Int): StringBuilder =
    val text = StringBuilder()
    for i <- 1 to rows do text.append(i).append('\t').append("x" * 420).append('\n')
    text

  private def jobs(database: String, count: Int, from: ApplyOptions = ApplyOptions()) =
    from.copy(jobs = Some(MoreConnections(count, ScriptConnection.open(server.unix(database)))))

  private def run(text: String, count: Int = 2): (String, ApplySummary) =
    val database = server.newDatabase()
    (database, apply(database, text, jobs(database, count)))

  private def check(database: String, rows: Int): Unit =
    assertEquals(
      ask(database)("SELECT count(*) || ' ' || sum(a) || ' ' || count(DISTINCT a) FROM t"),
      s"$rows ${rows.toLong * (rows + 1) / 2} $rows"
    )

  test("all rows arrive, over 1, 2, 3 and 8 connections"):
    val rows = 20000
    val text = head + data(rows) + "\\.\nANALYZE t;\n"
    for count <- Seq(1, 2, 3, 8) do
      val (database, summary) = run(text, count)
      check(database, rows)
      assertEquals(
        (summary.parallelCopies, summary.rows),
        (if count == 1 then 0L else 1L, rows.toLong)
      )
      val connections = ask(database)("SELECT count(DISTINCT xmin::text) FROM t")
      assertEquals(connections, math.min(count, 8).toString)

  test("a small COPY goes over one connection, and no reason is counted"):
    val (database, summary) = run(head + data(100) + "\\.\n")
    check(database, 100)
    assertEquals((summary.parallelCopies, summary.singleCopies), (0L, Map.empty[String, Long]))

  test("a COPY without rows, and several one after the other"):
    val text =
      head + "\\.\nCOPY t FROM STDIN;\n" + data(10000) + "\\.\nTRUNCATE t;\nCOPY t FROM STDIN;\n" +
        data(12000) + "\\.\nCOPY t FROM STDIN;\n\\.\n"
    val (database, summary) = run(text)
    check(database, 12000)
    assertEquals(summary.parallelCopies, 2L)

  test("rows with newlines in them, and rows longer than a chunk"):
    val text = StringBuilder(head)
    for i <- 1 to 8000 do text.append(s"$i\ta\\\nb${"y" * 60}\\\\\n")
    text.append(s"8001\t${"z" * 1200000}\n8002\t${"z" * 1200000}\n\\.\n")
    val (database, summary) = run(text.toString, 3)
    check(database, 8002)
    assertEquals(summary.parallelCopies, 1L)
    assertEquals(
      ask(database)("SELECT count(*) FROM t WHERE b LIKE E'a\\nb%\\\\\\\\'"),
      "8000"
    )

  private def single(text: String, reason: String): Unit =
    val (database, summary) = run(text)
    assertEquals(
      (summary.parallelCopies, summary.singleCopies),
      (0L, Map(reason -> 1L)),
      text.take(200)
    )
    check(database, 8000)

  test("where the data cannot be cut, or others would not see the table, one connection is enough"):
    val rows = data(8000).toString + "\\.\n"
    val csv = rows.replace('\t', ',')
    single(head.replace("STDIN", "STDIN CSV") + csv, "of the option CSV")
    single(
      "BEGIN;\nCREATE TABLE t (a int, b text);\nCOPY t FROM STDIN (FREEZE);\n" + rows + "COMMIT;\n",
      "it is in a transaction of the script"
    )
    single("BEGIN;\n" + head + rows + "COMMIT;\n", "it is in a transaction of the script")
    single(
      head
        .replace("b text", "b text, UNIQUE (a), c int DEFAULT 1 REFERENCES t (a)")
        .replace("COPY t", "COPY t (a, b)") + rows,
      "rows of the table refer to others of it"
    )
    val shadowed =
      "CREATE TABLE public.t (a int, b text);\nCREATE TEMP TABLE t (a int, b text);\nCOPY t FROM " +
        "STDIN;\n" +
        rows + "INSERT INTO public.t SELECT * FROM t;\n"
    single(shadowed, "the table is temporary")

  test("the other connections have the settings and the role of the script"):
    val database = server.newDatabase()
    val role = s"j_$database"
    val text =
      s"CREATE ROLE $role;\nCREATE SCHEMA s;\nGRANT ALL ON SCHEMA s TO $role;\nSET my.x = " +
        "'seven';\n" +
        s"SET search_path = s;\nSET ROLE $role;\n" +
        "CREATE TABLE t (a int, b text, c text DEFAULT current_user || " +
        "current_setting('my.x'));\n" +
        "COPY t (a, b) FROM STDIN;\n" + data(
          8000
        ) + "\\.\nSET my.x = 'eight';\nRESET ROLE;\nCOPY t (a, b) FROM STDIN;\n" +
        data(8000) + "\\.\nALTER TABLE s.t SET SCHEMA public;\n"
    val summary = apply(database, text, jobs(database, 2))
    assertEquals(summary.parallelCopies, 2L)
    assertEquals(
      ask(database)(
        "SELECT string_agg(c || ' ' || n, ', ' ORDER BY c) FROM (SELECT c, count(*) AS n FROM t " +
          "GROUP BY c) x"
      ),
      s"${role}seven 8000, postgreseight 8000"
    )

  test("a bad row is told by its line of the file, and leaves nothing of the COPY"):
    val rows = 12000
    val random = Random(7)
    for bad <- Seq(1, 2, 5001, rows - 1, rows) ++ Seq.fill(5)(1 + random.nextInt(rows)) do
      val text = data(rows).toString.replace(s"\n$bad\t", s"\nx$bad\t")
      val whole = head + (if bad == 1 then text.replaceFirst("1", "x1") else text) + "\\.\n"
      val database = server.newDatabase()
      val error = refused(database, whole, jobs(database, 3))
      assertEquals(error.position.map(_.line), Some(bad + 2L))
      assert(error.getMessage.contains(s"\"x$bad\""), error.getMessage)
      assert(error.getMessage.contains("column a"), error.getMessage)
      assertEquals(ask(database)("SELECT count(*) FROM t"), "0")

  test("a bad row on any connection ends the COPY long before the end of the data"):
    for chunk <- Seq(0, 1, 2) do
      val rows = 100000 // over 40 MB
      val bad = chunk * 2700 + 100
      val text = head + data(rows).toString.replace(s"\n$bad\t", "\nx\t") + "\\.\n"
      val database = server.newDatabase()
      var used = 0L
      val listener = new ApplyListener:
        override def usedUp(script: String, offset: Long): Unit = used = offset
      val error = intercept[ScriptException](
        apply(database, text, jobs(database, 3), listener = listener)
      )
      assertEquals(error.position.map(_.line), Some(bad + 2L))
      assert(used < 20_000_000, s"$used of ${text.length} bytes, part $chunk")

  test("after an error the next statements run, if that is wanted"):
    val database = server.newDatabase()
    val text = head + data(20000).toString
      .replace("\n15000\t", "\nx\t") + "\\.\nCOPY t FROM STDIN;\n" + data(9000) +
      "\\.\n"
    val options = jobs(database, 2, ApplyOptions(OnError.Continue))
    val summary = apply(database, text, options)
    assertEquals((summary.errors, summary.parallelCopies), (1L, 1L))
    check(database, 9000)

  test("a COPY that is refused takes no statement, if the next statements run after an error"):
    val database = server.newDatabase()
    val refusedCopy = "COPY nosuch FROM stdin;\nINSERT INTO t VALUES (0, 'not skipped');\n"
    val text = head.replace("COPY t", s"${refusedCopy}COPY t") + data(9000) + "\\.\n"
    val summary = apply(database, text, jobs(database, 2, ApplyOptions(OnError.Continue)))
    assertEquals((summary.errors, summary.parallelCopies), (1L, 1L))
    assertEquals(ask(database)("SELECT count(*) FROM t"), "9001")

  test(
    "an error says how many COPYs before it went over several connections, and how many lines " +
      "went out"
  ):
    val database = server.newDatabase()
    val text = head + data(20000) + "\\.\nSELECT x;"
    var lines = 0L
    val listener = new ApplyListener:
      override def copying(script: String, statement: Piece.Statement, sent: Long): Unit =
        lines = sent
    val error = intercept[ScriptException](
      apply(database, text, jobs(database, 2), listener = listener)
    )
    assertEquals(error.summary.map(s => (s.rows, s.parallelCopies)), Some((20000L, 1L)))
    assert(lines > 19000, lines)

  test("two rows of one key on two connections are an error, and no wait for ever"):
    val text = head.replace("a int", "a int UNIQUE") + data(20000).toString
      .replace("\n15000\t", "\n14\t") + "\\.\n"
    val database = server.newDatabase()
    val error = refused(database, text, jobs(database, 4))
    assert(
      error.getMessage.contains("same lock") || error.getMessage.contains("duplicate key"),
      error.getMessage
    )
    assertEquals(ask(database)("SELECT count(*) FROM t"), "0")

  test("a trigger that changes one row for all is an error, and no wait for ever"):
    val text =
      "CREATE TABLE n (n int);\nINSERT INTO n VALUES (0);\nCREATE FUNCTION f() RETURNS trigger " +
        "LANGUAGE plpgsql AS " +
        "$$ BEGIN UPDATE n SET n = n + 1; RETURN NEW; END $$;\nCREATE TABLE t (a int, b text);\n" +
        "CREATE TRIGGER g AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION f();\nCOPY t " +
        "FROM STDIN;\n" +
        data(8000) + "\\.\n"
    val database = server.newDatabase()
    val error = refused(database, text, jobs(database, 2))
    assert(error.hint.exists(_.contains("--jobs 1")), s"$error ${error.hint}")
    assertEquals(ask(database)("SELECT count(*) FROM t"), "0")

  test("what is deferred to the commit is checked before anybody commits"):
    val text =
      "CREATE TABLE p (a int PRIMARY KEY);\nINSERT INTO p SELECT generate_series(2, 20000);\n" +
        head.replace("a int", "a int REFERENCES p DEFERRABLE INITIALLY DEFERRED") + data(
          20000
        ) + "\\.\n"
    val database = server.newDatabase()
    val error = refused(database, text, jobs(database, 3))
    assert(error.getMessage.contains("foreign key"), error.getMessage)
    assertEquals(ask(database)("SELECT count(*) FROM t"), "0")

  test("several connections and one transaction do not go together"):
    val error =
      intercept[IllegalArgumentException](jobs("x", 2, ApplyOptions(singleTransaction = true)))
    assert(error.getMessage.contains("Use only one of the two"), error.getMessage)

  test("a COPY of which some connections had committed is completed, with whatever number of them"):
    val rows = 12000
    val text = head + data(rows) + "\\.\n"
    for
      (count, committed) <- Seq(2 -> Set(1), 3 -> Set(1), 3 -> Set(1, 2), 4 -> Set(2));
      again <- Seq(1, 3)
    do
      val database = server.newDatabase()
      halfDone(database, text, count, committed)
      apply(database, text, jobs(database, again, resuming)): Unit
      check(database, rows)
      assertEquals(ask(database)("SELECT count(*) FROM weir_sql.part"), "0")
      assertEquals(apply(database, text, resuming).statements, 0L)

  test(
    "a script whose row was deleted when a part of a COPY was committed is applied anew, all of it"
  ):
    val rows = 20000
    val text = head + data(rows) + "\\.\n"
    val database = server.newDatabase()
    halfDone(database, text, 2, Set(1))
    server.admin(database)(server.execute(_, "DELETE FROM weir_sql.journal; DROP TABLE t"))
    apply(database, text, jobs(database, 2, resuming)): Unit
    check(database, rows)
    assertEquals(ask(database)("SELECT count(*) FROM weir_sql.part"), "0")

  test("data that has changed after a part of it was committed is refused"):
    val text = head + data(20000) + "\\.\n"
    val database = server.newDatabase()
    halfDone(database, text, 3, Set(1))
    val before = ask(database)("SELECT count(*) FROM t")
    val error = refused(database, text.replace("\n14\t", "\n41\t"), resuming)
    assert(error.getMessage.contains("COPY data before"), error.getMessage)
    assertEquals(ask(database)("SELECT count(*) FROM t"), before)

  /** As if a run over `count` connections had been killed when only those of `committed` had
    * committed their part.
    */
  private def halfDone(database: String, text: String, count: Int, committed: Set[Int]): Unit =
    apply(database, text, jobs(database, count, resuming)): Unit
    server.admin(database) { connection =>
      val chunks = cut(text, count)
      server.execute(
        connection,
        s"INSERT INTO weir_sql.part SELECT script, 1, unnest(ARRAY[${committed.mkString(",")}]), " +
          s"$count, " +
          "bytes, checksum FROM weir_sql.journal"
      )
      for (first, last, i) <- chunks if !committed(i % count) do
        server.execute(connection, s"DELETE FROM t WHERE a BETWEEN $first AND $last")
      val sum = sumOfFirst(text)
      server.execute(
        connection,
        s"UPDATE weir_sql.journal SET pieces = 1, bytes = ${text.indexOf(";") + 1}, checksum = " +
          s"'$sum', finished = NULL"
      )
    }

  private def sumOfFirst(text: String): String =
    val bytes = text.take(text.indexOf(";") + 1).getBytes
    java.util.HexFormat
      .of()
      .formatHex(java.security.MessageDigest.getInstance("SHA-256").digest(bytes))

  /** The first and last number of each chunk of the data. */
  private def cut(text: String, count: Int): Seq[(Int, Int, Int)] =
    val body = text.substring(head.length, text.indexOf("\\.\n")).getBytes
    val cutter = RowCutter(ParallelCopy.chunkBytes(count))
    var at = 0
    var row = 1
    val found = Seq.newBuilder[(Int, Int, Int)]
    var i = 0
    while at < body.length do
      at = cutter.next(body, at, body.length)
      found += ((row, row + cutter.rows.toInt - 1, i))
      row += cutter.rows.toInt
      i += 1
    found.result()
