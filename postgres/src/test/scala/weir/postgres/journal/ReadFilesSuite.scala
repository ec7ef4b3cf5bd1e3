package weir.postgres.journal

import java.nio.file.{Files, Path}
import weir.postgres.*

/** Scripts that read other files, by `\i` and `\copy`, cut off and applied again. */
class ReadFilesSuite extends ResumeSuite:
  private val files = FunFixture[Path](
    _ => Files.createTempDirectory("weir-read"),
    folder =>
      Files.list(folder).forEach(Files.delete(_))
      Files.delete(folder)
  )

  private val script =
    """\set n 3
      |CREATE TABLE t (a int, b text);
      |\if :{?n}
      |\i one.sql
      |\else
      |\i none.sql
      |\endif
      |\copy t from data.txt
      |INSERT INTO t VALUES (:n, 'last');
      |""".stripMargin

  private def write(folder: Path, name: String, text: String): Unit =
    Files.writeString(folder.resolve(name), text): Unit

  private def writeAll(folder: Path): Unit =
    write(
      folder,
      "one.sql",
      "INSERT INTO t VALUES (:n, 'one');\n\\set n 4\n\\ir two.sql\nBEGIN;\n" +
        "INSERT INTO t VALUES (:n, 'in');\nCOMMIT;\nCOPY t FROM stdin;\n8\tx\n\\.\nVACUUM t;\n"
    )
    write(folder, "two.sql", "INSERT INTO t VALUES (:n, 'two');\n\\set n 5\n")
    write(folder, "data.txt", "6\tx\n7\ty\n")

  private def in(folder: Path) = resuming.copy(psql = PsqlOptions(folder = folder))

  private val rows = "SELECT string_agg(a || b, ',' ORDER BY a, b) FROM t"

  files.test("a script that died after any of its statements is applied once"): folder =>
    writeAll(folder)
    for statements <- 1 to 9 do
      val database = server.newDatabase()
      dies(database, script, statements, in(folder))
      apply(database, script, in(folder)): Unit
      assertEquals(ask(database)(rows), "3one,4two,5in,5last,6x,7y,8x", s"$statements")

  files.test("a failed statement of another file is corrected, and the run goes on there"):
    folder =>
      writeAll(folder)
      val database = server.newDatabase()
      write(folder, "two.sql", "INSERT INTO t VALUES (:n, 'two');\nINSERT INTO nix VALUES (1);\n")
      val two = folder.resolve("two.sql")
      val failed = refused(database, script, in(folder))
      assertEquals(failed.getMessage, s"$two:2:13: ERROR: relation \"nix\" does not exist")
      write(
        folder,
        "two.sql",
        "INSERT INTO t VALUES (:n, 'two');\nINSERT INTO t VALUES (9, 'z');\n"
      )
      apply(database, script, in(folder)): Unit
      assertEquals(ask(database)(rows), "3one,4in,4last,4two,6x,7y,8x,9z")

  files.test("an applied part of another file must not change"): folder =>
    for (name, text) <- List(
        "one.sql" -> "INSERT INTO t VALUES (:n, 'other');\n\\set n 4\n\\ir two.sql\n",
        "two.sql" -> "INSERT INTO t VALUES (:n, 'two');\n\\set n 6\n",
        "data.txt" -> "6\tx\n7\tz\n"
      )
    do
      writeAll(folder)
      val database = server.newDatabase()
      dies(database, script, 9, in(folder))
      write(folder, name, text)
      val problem = refused(database, script, in(folder)).problem
      assert(clue(problem).startsWith("the script has "), name)

  files.test("a place to go on at before or after a file repeats it or leaves it out"): folder =>
    writeAll(folder)
    val database = server.newDatabase()
    dies(database, script, 2, in(folder))
    def from(place: String) = at(place).copy(psql = PsqlOptions(folder = folder))
    apply(database, script, from("5:1")): Unit
    assertEquals(ask(database)(rows), "3one,5last,6x,7y")
    apply(database, script, from("4:1")): Unit
    assertEquals(ask(database)(rows), "3one,3one,4two,5in,5last,5last,6x,6x,7y,7y,8x")

  files.test("an error in data that \\copy reads is at the line of its file"): folder =>
    write(folder, "data.txt", "6\tx\nseven\ty\n")
    val data = folder.resolve("data.txt")
    val text = "CREATE TABLE t (a int, b text);\n\\copy t from data.txt\n"
    val failed = refused(server.newDatabase(), text, in(folder))
    assertEquals(failed.script, s"$data")
    assertEquals(failed.position.map(_.line), Some(2L))
    val missing = refused(server.newDatabase(), "\\copy t from data.txt\n", in(folder))
    assertEquals(missing.getMessage, "s.sql:1:1: ERROR: relation \"t\" does not exist")

  files.test("a file that is missing ends the run, after the statements before it"): folder =>
    val database = server.newDatabase()
    val failed = refused(database, "CREATE TABLE t (a int);\n\\i none.sql\n", in(folder))
    assertEquals(
      failed.getMessage,
      s"s.sql:2:1: ${folder.resolve("none.sql")}: No such file or directory"
    )
    assertEquals(ask(database)("SELECT count(*) FROM t"), "0")
