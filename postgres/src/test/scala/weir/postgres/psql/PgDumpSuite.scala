package weir.postgres.psql

import java.nio.file.{Files, Path}
import java.util.zip.GZIPOutputStream
import scala.concurrent.duration.*
import scala.util.Using

/** Tests that a dump of pg_dump, applied to an empty database and dumped again, stays the same. */
class PgDumpSuite extends NeedsPrograms:
  override def munitTimeout: Duration = 5.minutes

  private val psql = Programs.find("psql")
  private val pgDump = Programs.find("pg_dump").filter(Programs.majorVersion(_) >= 15)
  private lazy val server = LoggedServer.shared
  private lazy val model = PsqlRunner(server, psql.get)
  private lazy val weir = WeirRunner(server)

  protected def missing: Option[String] =
    Option.when(psql.isEmpty || pgDump.isEmpty)(
      "There are no psql and pg_dump of version 15 or newer."
    )

  override def beforeAll(): Unit =
    if missing.isEmpty then fillSource()

  private def fillSource(): Unit =
    server.execute("postgres", "CREATE ROLE \"weir; reader\"")
    server.create("source")
    fill("source", "dumped.sql")

  private def fill(database: String, resource: String): Unit =
    val script = Using.resource(getClass.getResourceAsStream(resource))(_.readAllBytes())
    ScriptRunner.withFile(script)(file => assertEquals(model(file, database, Mode.Stop), None))

  private def dumpTo(file: Path, database: String, options: Seq[String]): Unit =
    val command = Vector(s"${pgDump.get}", "-d", database, "-f", s"$file") ++ options
    val result = Programs.run(command, server.environment)
    assertEquals(result.code, 0, result.err)

  /** The lines of a dump, without the key, which is another each time. */
  private def dump(database: String, options: Seq[String]): Vector[String] =
    ScriptRunner.withFile(Array.empty) { file =>
      dumpTo(file, database, options)
      withoutKey(lines(file))
    }

  private def withoutKey(lines: Vector[String]) = lines.filterNot(_.matches("\\\\(un)?restrict .*"))

  private def lines(file: Path): Vector[String] =
    String(Files.readAllBytes(file), "ISO-8859-1").split("\n").toVector

  /** Runs `body` with a database made of `template`, which is dropped afterwards. */
  private def withTarget(template: String = "template0")(body: String => Unit): Unit =
    server.execute("postgres", s"CREATE DATABASE target TEMPLATE $template")
    try body("target")
    finally server.drop("target")

  /** Applies a dump of the source to the target, and gives it. */
  private def apply(
      options: Seq[String],
      mode: Mode = Mode.Stop,
      runner: ScriptRunner = weir
  ): Vector[String] =
    ScriptRunner.withFile(Array.empty) { file =>
      dumpTo(file, "source", options)
      assertEquals(runner(file, "target", mode), None)
      withoutKey(lines(file))
    }

  private def assertLines(found: Vector[String], expected: Vector[String]): Unit =
    val line = found.zipAll(expected, "", "").indexWhere(_ != _)
    if line >= 0 then
      def near(lines: Vector[String]) =
        lines.slice(line - 3, line + 4).map(_.take(300)).mkString("\n  ")
      fail(s"Line ${line + 1} differs. Found:\n  ${near(found)}\nExpected:\n  ${near(expected)}")

  test("pg_dump"):
    withTarget() { _ =>
      val applied = apply(Nil)
      assertLines(dump("target", Nil), applied)
    }

  test("pg_dump with a journal, which is no part of the dump; a second run changes nothing"):
    withTarget() { target =>
      ScriptRunner.withFile(Array.empty) { file =>
        dumpTo(file, "source", Nil)
        for _ <- 1 to 2 do
          assertEquals(WeirRunner(server, resumes = true)(file, target, Mode.Stop), None)
      }
      assertLines(dump(target, List("--exclude-schema=weir_sql")), dump("source", Nil))
    }

  test("pg_dump over three connections: the same rows"):
    withTarget() { _ =>
      val applied = apply(Nil, Mode.Stop, WeirRunner(server, jobs = 3))
      assertLines(dump("target", Nil).sorted, applied.sorted)
    }

  test("pg_dump --create --clean, which drops the database, makes it again and goes there"):
    withTarget() { _ =>
      ScriptRunner.withFile(Array.empty) { file =>
        apply(Nil): Unit
        val before = dump("target", Nil)
        dumpTo(file, "target", Seq("--create", "--clean"))
        server.execute("target", "DROP SCHEMA public CASCADE")
        assertEquals(weir(file, "postgres", Mode.Stop), None)
        assertLines(dump("target", Nil), before)
      }
    }

  for options <- List(
      "--inserts --rows-per-insert=50 --on-conflict-do-nothing --quote-all-identifiers",
      "--column-inserts --no-privileges --no-owner --no-comments --no-publications"
    )
  do
    test(s"pg_dump $options"):
      withTarget() { _ =>
        val applied = apply(options.split(' ').toSeq)
        assertLines(dump("target", options.split(' ').toSeq), applied)
      }

  test("pg_dump --no-blobs as a single transaction"):
    withTarget() { _ =>
      val applied = apply(List("--no-blobs"), Mode.Single)
      assertLines(dump("target", List("--no-blobs")), applied)
    }

  test("pg_dump with large objects is refused as a single transaction, and leaves nothing"):
    withTarget() { target =>
      ScriptRunner.withFile(Array.empty) { file =>
        dumpTo(file, "source", Nil)
        val line = lines(file).indexOf("COMMIT;") + 1
        val error = weir(file, target, Mode.Single).getOrElse("none")
        assert(error.contains(s":$line:1: COMMIT in a script"), error)
      }
      assertEquals(DatabaseContents.of(server, target), Vector.empty)
    }

  test("pg_dump -E LATIN1"):
    server.create("latin1")
    fill("latin1", "latin1.sql")
    withTarget() { target =>
      ScriptRunner.withFile(Array.empty) { file =>
        dumpTo(file, "latin1", List("-E", "LATIN1"))
        assert(Files.readAllBytes(file).containsSlice("\u00dcberschrift".getBytes("ISO-8859-1")))
        assertEquals(weir(file, target, Mode.Stop), None)
      }
      assertLines(dump(target, Nil), dump("latin1", Nil))
    }

  /** The result differs from the dump, so psql gives the expected one. */
  private def assertAsPsql(template: String)(body: ScriptRunner => Unit): Unit =
    val dumps = List(weir, model).map { runner =>
      var lines = Vector.empty[String]
      withTarget(template) { target =>
        body(runner)
        lines = dump(target, Nil)
      }
      lines
    }
    assertLines(dumps(0), dumps(1))

  test("pg_dump --clean --if-exists over a database that holds the same"):
    assertAsPsql("source")(apply(List("--clean", "--if-exists"), Mode.Stop, _): Unit)

  test("pg_dump --data-only --disable-triggers into a schema without rows"):
    assertAsPsql("template0") { runner =>
      apply(List("--schema-only"), Mode.Stop, model): Unit
      apply(List("--data-only", "--disable-triggers"), Mode.Stop, runner): Unit
    }

  test("pg_dump, section by section"):
    withTarget() { _ =>
      for section <- List("pre-data", "data", "post-data") do
        apply(List(s"--section=$section")): Unit
      assertLines(dump("target", Nil), dump("source", Nil))
    }

  test("pg_dump, packed by gzip, going on after errors, of which there are none"):
    withTarget() { target =>
      ScriptRunner.withFile(Array.empty) { file =>
        dumpTo(file, "source", Nil)
        val plain = Files.readAllBytes(file)
        Using.resource(GZIPOutputStream(Files.newOutputStream(file)))(_.write(plain))
        assertEquals(weir(file, target, Mode.Continue), None)
      }
      assertLines(dump("target", Nil), dump("source", Nil))
    }
