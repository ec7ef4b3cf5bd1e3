package weir.postgres.psql

import java.nio.file.{Files, Path}
import java.util.zip.GZIPOutputStream
import scala.concurrent.duration.*
import scala.util.Using

/** What pg_dump writes, applied to an empty database and dumped again, is the same. */
class PgDumpSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 5.minutes

  private val psql = Programs.find("psql")
  private val pgDump = Programs.find("pg_dump").filter(Programs.majorVersion(_) >= 15)
  private lazy val server = TestServer.start()
  private lazy val model = PsqlRunner(server, psql.get)
  private lazy val weir: ScriptRunner = PsqlRunner(server, psql.get)

  override def beforeAll(): Unit =
    assume(psql.isDefined && pgDump.isDefined, "There are no psql and pg_dump of version 15 or newer.")
    server.execute("postgres", "CREATE ROLE \"weir; reader\"")
    server.create("source")
    assert(model(Path.of(getClass.getResource("dumped.sql").toURI), "source", Mode.Stop))

  override def afterAll(): Unit = if psql.isDefined && pgDump.isDefined then server.close()

  private def dumpTo(file: Path, database: String, options: Seq[String]): Unit =
    val command = Vector(s"${pgDump.get}", "-d", database, "-f", s"$file") ++ options
    val result = Programs.run(command, server.environment)
    assertEquals(result.code, 0, result.err)

  /** The lines of a dump, without the key, which is another each time. */
  private def dump(database: String, options: Seq[String]): Vector[String] =
    ScriptRunner.withFile(Array.empty) { file =>
      dumpTo(file, database, options)
      lines(file).filterNot(_.matches("\\\\(un)?restrict .*"))
    }

  private def lines(file: Path): Vector[String] =
    String(Files.readAllBytes(file), "ISO-8859-1").split("\n").toVector

  /** What `body` does with a database made of `template`, which is gone afterwards. */
  private def withTarget(template: String = "template0")(body: String => Unit): Unit =
    server.execute("postgres", s"CREATE DATABASE target TEMPLATE $template")
    try body("target")
    finally server.drop("target")

  private def apply(options: Seq[String], mode: Mode = Mode.Stop): Unit =
    ScriptRunner.withFile(Array.empty) { file =>
      dumpTo(file, "source", options)
      assert(weir(file, "target", mode))
    }

  private def assertSame(options: String*): Unit =
    val (found, expected) = (dump("target", options), dump("source", options))
    val line = found.zipAll(expected, "", "").indexWhere(_ != _)
    if line >= 0 then
      def near(lines: Vector[String]) = lines.slice(line - 3, line + 4).map(_.take(300)).mkString("\n  ")
      fail(s"Line ${line + 1} differs. Found:\n  ${near(found)}\nExpected:\n  ${near(expected)}")

  for mode <- List(Mode.Stop, Mode.Continue, Mode.Single) do
    test(s"pg_dump, $mode"):
      withTarget() { _ =>
        apply(Nil, mode)
        assertSame()
      }

  for options <- List(
      "--inserts --quote-all-identifiers",
      "--column-inserts --no-privileges",
      "--inserts --rows-per-insert=50 --on-conflict-do-nothing",
      "--no-owner --no-comments --no-publications",
      "--schema-only",
      "-E LATIN1 --schema=latin"
    )
  do
    test(s"pg_dump $options"):
      withTarget() { _ =>
        apply(options.split(' ').toSeq)
        assertSame(options.split(' ')*)
      }

  test("pg_dump --clean --if-exists over a database that holds the same"):
    withTarget("source") { _ =>
      apply(List("--clean", "--if-exists"))
      assertSame()
    }

  test("pg_dump --data-only --disable-triggers into a schema without rows"):
    withTarget() { target =>
      ScriptRunner.withFile(Array.empty) { file =>
        dumpTo(file, "source", List("--schema-only"))
        assert(model(file, target, Mode.Stop))
      }
      apply(List("--data-only", "--disable-triggers"))
      assertSame()
    }

  test("pg_dump, section by section"):
    withTarget() { _ =>
      for section <- List("pre-data", "data", "post-data") do apply(List(s"--section=$section"))
      assertSame()
    }

  test("pg_dump, packed by gzip"):
    withTarget() { target =>
      ScriptRunner.withFile(Array.empty) { file =>
        dumpTo(file, "source", Nil)
        val plain = Files.readAllBytes(file)
        Using.resource(GZIPOutputStream(Files.newOutputStream(file)))(_.write(plain))
        assert(weir(file, target, Mode.Stop))
      }
      assertSame()
    }
