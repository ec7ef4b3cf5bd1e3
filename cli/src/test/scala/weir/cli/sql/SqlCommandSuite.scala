package weir.cli.sql

import com.github.luben.zstd.Zstd
import java.io.ByteArrayOutputStream
import java.nio.file.Files
import java.util.zip.GZIPOutputStream

import munit.FunSuite

/** Tests scripts without errors. */
class SqlCommandSuite extends FunSuite with SqlFixture:
  private val script =
    """CREATE TABLE t (a int, b text);
      |COPY t (a, b) FROM stdin;
      |1	one
      |2	two
      |\.
      |INSERT INTO t VALUES (3, 'three;');
      |SELECT * FROM t;
      |""".stripMargin

  private def rows(url: String): Vector[String] = query(url, "SELECT a FROM t ORDER BY a")

  folder.test("a script is applied, and the summary counts it"): folder =>
    val url = newDatabase()
    val result = applied(folder, url, script, "--slowest", "5")
    assertEquals((result.code, result.err), (0, ""))
    assertEquals(rows(url), Vector("1", "2", "3"))
    assert(result.out.startsWith("4 statements, 6 rows; 125 B in "), result.out)
    assert(result.out.contains("the 4 slowest statements:"), result.out)
    assert(clue(result.out).contains(s"$folder/script.sql:2  COPY t (a, b) FROM stdin\n"))

  folder.test("--slowest says how many statements are listed, and --quiet that nothing is said"):
    folder =>
      val url = newDatabase()
      val one = applied(folder, url, "SELECT 1;SELECT pg_sleep(0.05);\nSELECT 2;", "--slowest", "1")
      assertEquals(one.out.linesIterator.size, 4, one.out)
      assert(clue(one.out).contains("the slowest statement:\n"))
      assert(clue(one.out).contains("SELECT pg_sleep(0.05)"))
      assertEquals(applied(folder, url, "SELECT 1", "--slowest", "0").out.linesIterator.size, 1)
      assertEquals(applied(folder, url, "SELECT 1", "--quiet"), Result(0, "", ""))

  folder.test("several files are applied in their order, on one connection"): folder =>
    val url = newDatabase()
    val first = write(folder, "1.sql", "CREATE TEMP TABLE t (a int);")
    val second = write(folder, "2.sql", "INSERT INTO t VALUES (1)")
    val third = write(folder, "3.sql", "CREATE TABLE u AS SELECT * FROM t")
    val result = weir("--db", url, s"$first", s"$second", s"$third")
    assertEquals(result.code, 0, result.err)
    assertEquals(query(url, "SELECT a FROM u"), Vector("1"))
    assert(clue(result.out).startsWith("3 statements, "))

  folder.test("a script packed by gzip or zstd is applied as it is"): folder =>
    val gzip = ByteArrayOutputStream()
    val packer = GZIPOutputStream(gzip)
    packer.write(script.getBytes)
    packer.close()
    val packed = Map("a.sql.gz" -> gzip.toByteArray, "a.sql.zst" -> Zstd.compress(script.getBytes))
    for (name, bytes) <- packed do
      val url = newDatabase()
      val file = Files.write(folder.resolve(name), bytes)
      val result = weir("--db", url, file.toString)
      assertEquals(result.code, 0, s"$name: $result")
      assertEquals(rows(url), Vector("1", "2", "3"), name)

  folder.test("an error in a packed script shows its line"): folder =>
    val file = Files.write(folder.resolve("a.zst"), Zstd.compress("SELECT 1;\nSELECT x;".getBytes))
    val result = weir("--db", newDatabase(), file.toString)
    assertEquals(result.code, 3)
    assert(clue(result.err).startsWith(s"$file:2:8: ERROR: "))
    assert(clue(result.err).contains("\nSELECT x;\n       ^\n"))

  folder.test("--dry-run counts, and needs no database"): folder =>
    val file = write(folder, "a.sql", script * 3)
    val result = weir("--dry-run", file.toString)
    assertEquals((result.code, result.err), (0, ""))
    val lines = result.out.linesIterator.toVector
    assertEquals(lines.head, "12 statements, 3 COPYs with 6 rows in 36 B")
    assert(clue(lines(1)).matches("377 B read and split in .*/s; nothing was sent"))
    assertEquals(
      lines.drop(3).toSet,
      Set("COPY", "CREATE TABLE", "INSERT", "SELECT").map("  3  " + _)
    )

  folder.test("--dry-run finds what cannot be split"): folder =>
    val file = write(folder, "a.sql", "SELECT 1;\nSELECT $x$ a")
    val result = weir("--dry-run", file.toString)
    assertEquals(result.code, 3)
    assert(clue(result.err).startsWith(s"$file:2:8: ERROR: unterminated dollar-quoted string"))
    assert(clue(result.err).endsWith("1 statement, 0 rows split (100 % read); nothing was sent.\n"))

  folder.test("the results are written as JSON"): folder =>
    val file = folder.resolve("out.json")
    for args <- List(Seq("--db", newDatabase()), Seq("--dry-run")) do
      val all = Seq(write(folder, "a.sql", script).toString, "--json", file.toString) ++ args
      assertEquals(weir(all*).code, 0)
      val json = ujson.read(Files.readString(file))
      Files.delete(file)
      assertEquals(json("command").str, "sql")
      val results = json("results").arr.map(one => one("case").str -> one("value").num).toMap
      assertEquals(results("statements"), 4.0)
      assertEquals(results("bytes"), 125.0)
      assert(results("rows") >= 2, results)
      assert(results("seconds") > 0, results)
      assert(results("start to first byte") > 0, results)

  folder.test("--resume applies once what is given twice, and goes on at what failed"): folder =>
    val url = newDatabase()
    val bad = applied(folder, url, script + "SELECT x;\nINSERT INTO t VALUES (4);", "--resume")
    assertEquals(bad.code, 3)
    assert(clue(bad.err).contains("the same command goes on where it ended"))
    val mended = applied(folder, url, script + "SELECT 9;\nINSERT INTO t VALUES (4);", "--resume")
    assertEquals(mended.code, 0, mended.err)
    assert(clue(mended.err).contains("4 statements, the last of them at 7:1, had been applied by"))
    assertEquals(rows(url), Vector("1", "2", "3", "4"))

  folder.test("--resume-at goes on where it is told to"): folder =>
    val url = newDatabase()
    val bad = applied(folder, url, script + "SELECT x;\nINSERT INTO t VALUES (4);", "--resume")
    assertEquals(bad.code, 3)
    val passed = weir("--db", url, s"$folder/script.sql", "--resume-at", "9")
    assertEquals(passed.code, 0, passed.err)
    assertEquals(rows(url), Vector("1", "2", "3", "4"))

  folder.test("--jobs sends the data of a large COPY over several connections, and says so"):
    folder =>
      val url = newDatabase()
      val data = (1 to 200_000).map(i => s"$i\ta row\n").mkString
      val large = s"CREATE TABLE t (a int, b text);\nCOPY t FROM stdin;\n$data\\.\n"
      val result = applied(folder, url, large, "--jobs", "2")
      assertEquals(result.code, 0, result.err)
      assertEquals(
        query(url, "SELECT count(*) || ' ' || sum(a) FROM t"),
        Vector("200000 20000100000")
      )
      assert(
        clue(result.out).contains(
          "1 of 1 COPY went over several connections at once. That is not one"
        )
      )

  folder.test("every --prefetch applies the same"): folder =>
    for prefetch <- List("0", "1", "8", "1B", "4MB") do
      val url = newDatabase()
      assertEquals(applied(folder, url, script, "--prefetch", prefetch).code, 0, prefetch)
      assertEquals(rows(url), Vector("1", "2", "3"), prefetch)

  folder.test("--db embedded starts a server, which is gone afterwards"): folder =>
    val before = EmbeddedFolders.now()
    val result = weir("--db", "embedded", write(folder, "a.sql", script).toString)
    assertEquals(result.code, 0, result.err)
    assert(clue(result.out).startsWith("4 statements, 6 rows; "))
    assertEquals(EmbeddedFolders.now(), before)

  test("the help names every option and the exit codes"):
    val help = weir("--help")
    assertEquals(help.code, 0)
    val words = "--db --single-transaction --on-error --dry-run --resume --jobs --prefetch 130"
    for word <- words.split(" ") do assert(help.out.contains(word), word)
    assert(help.out.linesIterator.forall(_.length <= 80), help.out)
