package weir.postgres.psql

import java.io.ByteArrayInputStream
import java.nio.file.{Files, Path}
import weir.postgres.*

/** The rows that a run prints, where its options and its errors matter. */
class OutputSuite extends ServerSuite:

  private final class Told extends ApplyListener:
    val text = StringBuilder()
    override def printed(script: String, printed: String, isForErrors: Boolean): Unit =
      text.synchronized(text ++= printed): Unit

  private def apply(
      url: String,
      script: String,
      options: ApplyOptions
  ): (String, Either[Throwable, ApplySummary]) =
    val told = Told()
    val source = SqlScript.fromInputStream("s.sql")(ByteArrayInputStream(script.getBytes("UTF-8")))
    val end = ScriptConnection.open(url).use(source.applyTo(_, options, told)).attempt.runSync()
    (told.text.result(), end)

  private val plain = "\\a\\t\n"

  private def printing(folder: Path = Path.of(""), results: Results = Results.Table) =
    PsqlOptions(folder = folder, results = results)

  private val folder = FunFixture[Path](
    _ => Files.createTempDirectory("weir-output"),
    path =>
      Files.list(path).forEach(Files.delete(_))
      Files.delete(path)
  )

  over("rows are printed over each kind of connection, in the encoding of the client"): (_, url) =>
    val script = s"${plain}SET client_encoding = 'LATIN1';\nSELECT chr(252), 1;\n" +
      "RESET client_encoding;\nSELECT chr(8364), null;\n"
    val (told, end) = apply(url, script, ApplyOptions(psql = printing()))
    assertEquals((told, end.isRight), ("ü|1\n€|\n", true))

  folder.test("rows go to a file with the server's bytes, or not at all"): folder =>
    val url = server.jdbc(server.newDatabase())
    def written(encoding: String, character: String) =
      val file = folder.resolve("rows.txt")
      val script = s"${plain}SET client_encoding = '$encoding';\n\\o $file\nSELECT $character;\n"
      (apply(url, script, ApplyOptions(psql = printing()))._2, file)
    val (end, file) = written("EUC_JP", "chr(28450)")
    assertEquals(
      end.map(_ => Files.readAllBytes(file).toList.map(_ & 0xff)),
      Right(List(0xb4, 0xc1, 10))
    )
    val (refused, _) = written("EUC_JP", "chr(9312)")
    val message = refused.left.map(_.getMessage).left.getOrElse("")
    assert(message.contains("cannot be written with the bytes that the server has sent"), refused)

  test("rows are printed over a connection of the user's own"):
    val url = server.jdbc(server.newDatabase())
    val jdbc = java.sql.DriverManager.getConnection(url)
    try
      val told = Told()
      val script = SqlScript.fromInputStream("s.sql")(
        ByteArrayInputStream("SELECT 1 AS a, 'x' AS b;".getBytes)
      )
      val run = ScriptConnection
        .of(jdbc)
        .flatMap(script.applyTo(_, ApplyOptions(psql = printing(results = Results.Csv)), told))
      run.runSync(): Unit
      assertEquals(told.text.result(), "a,b\n1,x\n")
    finally jdbc.close()

  test("rows are printed in the order of their statements, also if those are sent ahead"):
    val statements = (1 to 200).map(i => s"SELECT $i;\n").mkString
    val script = s"${plain}BEGIN;\n${statements}COMMIT;\n"
    val options = ApplyOptions(psql = printing(), pipeline = true)
    val (told, _) = apply(server.unix(server.newDatabase()), script, options)
    assertEquals(told, (1 to 200).map(i => s"$i\n").mkString)

  test("a format that is not printed here is an error at its statement"):
    val script = "\\pset format html\nSELECT 1;\n"
    val (_, end) = apply(
      server.unix(server.newDatabase()),
      script,
      ApplyOptions(psql = printing())
    )
    assertEquals(
      end.left.map(_.getMessage),
      Left("s.sql:2:1: the format html is not supported for the rows of a statement")
    )

  folder.test("a run that goes on adds to the file that it has begun"): path =>
    val url = server.unix(server.newDatabase())
    def run(last: String) =
      val script = s"$plain\\o out.txt\nSELECT 1;\nSELECT 2;\nSELECT $last;\nSELECT 4;\n"
      apply(url, script, ApplyOptions(psql = printing(path), resume = Some(Resume())))
    assert(run("1/0")._2.isLeft)
    assertEquals(Files.readString(path.resolve("out.txt")), "1\n2\n")
    assert(run("3")._2.isRight)
    assertEquals(Files.readString(path.resolve("out.txt")), "1\n2\n3\n4\n")

  folder.test("rows before an error of the run are in the file"): path =>
    val script = s"$plain\\o out.txt\nSELECT 1;\nSELECT 1/0;\n"
    val (_, end) =
      apply(server.unix(server.newDatabase()), script, ApplyOptions(psql = printing(path)))
    assert(end.isLeft)
    assertEquals(Files.readString(path.resolve("out.txt")), "1\n")

  folder.test("a program of \\g gets the end of its input, also if its statement fails"): path =>
    val script = s"${plain}SELECT repeat('x', 1000000), 1 / (4 - i) FROM generate_series(1, 4) i " +
      "\\g |cat > rows.txt; echo > ended.txt\n"
    val psql = printing(path).copy(allowsShell = true)
    val (_, end) = apply(server.unix(server.newDatabase()), script, ApplyOptions(psql = psql))
    assert(end.isLeft)
    assert(Files.exists(path.resolve("ended.txt")))
    val lines = Files.readString(path.resolve("rows.txt")).linesIterator.toList
    assertEquals(lines.map(_.length), List(1000002, 1000002))

  test("a result that is larger than the memory for it is printed while it comes"):
    val script =
      s"${plain}SELECT repeat('x', 1000000), 1 / (100 - i) FROM generate_series(1, 100) i;\n"
    val (told, end) =
      apply(server.unix(server.newDatabase()), script, ApplyOptions(psql = printing()))
    assert(end.isLeft)
    assert(told.length > 90_000_000, told.length)
