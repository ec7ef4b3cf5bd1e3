package weir.postgres.psql

import java.io.ByteArrayInputStream
import java.nio.file.{Files, Path}
import scala.collection.mutable
import weir.postgres.*

/** `\lo_import`, `\lo_export` and `\lo_unlink`. */
class LargeObjectSuite extends ServerSuite:

  private final class Told extends ApplyListener:
    val told = mutable.ListBuffer.empty[String]
    override def printed(script: String, text: String, isForErrors: Boolean): Unit = told += text
    override def failed(error: ScriptException): Unit = told += error.getMessage

  private val folder = FunFixture[Path](
    _ => Files.createTempDirectory("weir-lo"),
    path =>
      Files.list(path).forEach(Files.delete(_))
      Files.delete(path)
  )

  private def apply(
      url: String,
      folder: Path,
      text: String,
      options: ApplyOptions = ApplyOptions()
  ): (List[String], String) =
    val told = Told()
    val psql = PsqlOptions(folder = folder, results = Results.Csv)
    val script = SqlScript.fromInputStream("s.sql")(ByteArrayInputStream(text.getBytes("UTF-8")))
    val end = ScriptConnection
      .open(url)
      .use(script.applyTo(_, options.copy(psql = psql), told))
      .attempt
      .runSync()
    (told.told.toList, end.left.toOption.fold("")(_.getMessage))

  private val bytes = Array[Byte](0, 1, '\\', '\'', '\n', -1)
  private val digits = "\\x00015c270aff"

  folder.test("a file becomes a large object, and a large object a file"): path =>
    Files.write(path.resolve("in"), bytes): Unit
    Files.write(path.resolve("empty"), Array.emptyByteArray): Unit
    val text = "\\t\n\\lo_import in 'it''s ü'\nSELECT 1;\n" +
      "SELECT obj_description(:LASTOID, 'pg_largeobject'), lo_get(:LASTOID);\n" +
      "\\lo_export :LASTOID out;\n\\lo_import empty;\n\\lo_export :LASTOID none\n" +
      "SELECT count(*), max(oid) = :LASTOID FROM pg_largeobject_metadata;\n" +
      "\\lo_unlink :LASTOID\nSELECT count(*) FROM pg_largeobject_metadata;\n"
    val url = server.unix(server.newDatabase())
    assertEquals(apply(url, path, text), (List("1\n", s"it's ü,$digits\n", "2,t\n", "1\n"), ""))
    assertEquals(Files.readAllBytes(path.resolve("out")).toList, bytes.toList)
    assertEquals(Files.size(path.resolve("none")), 0L)

  folder.test("what is done is told if QUIET is off, and the last statement stays the last"):
    path =>
      Files.write(path.resolve("in"), bytes): Unit
      val text = "\\t\nSELECT 1 UNION SELECT 2 ORDER BY 1;\n\\set QUIET off\n\\set ECHO queries\n" +
        "\\lo_import in\n" +
        "\\lo_export :LASTOID out\n\\set o :LASTOID\n\\lo_unlink :LASTOID\n" +
        "\\echo :ROW_COUNT :SQLSTATE\n\\set QUIET on\n\\lo_import in\n"
      val (told, end) = apply(server.unix(server.newDatabase()), path, text)
      assertEquals(end, "")
      assertEquals(
        told.map(_.replaceAll("(lo_\\w+) \\d+", "$1 OID")),
        List("1\n2\n", "lo_import OID\n", "lo_export\n", "lo_unlink OID\n", "2 00000\n")
      )

  folder.test("their errors are those of a statement"): path =>
    Files.write(path.resolve("in"), bytes): Unit
    val go = ApplyOptions(onError = OnError.Continue)
    val text = "\\lo_unlink 1\n\\lo_export 1 out\n\\lo_import nix\n\\lo_import\n\\lo_export 1\n" +
      "\\lo_unlink\nBEGIN;\n\\lo_import in\nSELECT 1/0;\n\\lo_import in\nROLLBACK;\n" +
      "\\echo :LAST_ERROR_SQLSTATE\n\\lo_import in /no/comment\n\\lo_export :LASTOID no/out\n"
    val (told, end) = apply(server.unix(server.newDatabase()), path, text, go)
    assertEquals(end, "")
    assertEquals(
      told.map(_.replaceAll("(nix|out cannot be written): .*", "$1")),
      List(
        "s.sql:1:1: ERROR: large object 1 does not exist",
        "s.sql:2:1: ERROR: large object 1 does not exist",
        s"s.sql:3:1: $path/nix",
        "s.sql:4:1: \\lo_import: missing required argument",
        "s.sql:5:1: \\lo_export: missing required argument",
        "s.sql:6:1: \\lo_unlink: missing required argument",
        "s.sql:9:1: ERROR: division by zero",
        "s.sql:10:1: ERROR: current transaction is aborted, commands ignored until end of " +
          "transaction block",
        "22012\n",
        s"s.sql:14:1: $path/no/out cannot be written"
      )
    )
    assert(!Files.exists(path.resolve("out")))

  folder.test("a run that goes on knows the object that it has made, and makes it once"): path =>
    val file = path.resolve("in")
    Files.write(file, bytes): Unit
    val (database, resume) = (server.newDatabase(), ApplyOptions(resume = Some(Resume())))
    def run(last: String) = apply(
      server.unix(database),
      path,
      s"\\t\n\\lo_import in a\n\\lo_export :LASTOID out\nSELECT $last;\n" +
        "SELECT lo_get(:LASTOID), count(*) FROM pg_largeobject_metadata;\n",
      resume
    )
    assert(run("1/0")._2.contains("division by zero"))
    Files.delete(file)
    assertEquals(run("2"), (List("2\n", s"$digits,1\n"), ""))
    assertEquals(Files.readAllBytes(path.resolve("out")).toList, bytes.toList)
