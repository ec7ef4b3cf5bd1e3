package weir.cli.sql

import java.lang.ProcessBuilder.Redirect
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import java.nio.file.attribute.PosixFilePermissions
import scala.concurrent.duration.*
import scala.util.Try

import munit.FunSuite

import weir.program.ChildJvm

/** psql's environment variables, in a process that has them. */
class SqlEnvironmentSuite extends FunSuite with SqlFixture:
  override val munitTimeout: Duration = 2.minutes

  private def run(folder: Path, script: Path, environment: Map[String, String]): Result =
    val log = folder.resolve("log.txt")
    val child = ChildJvm.weir(log, Nil, Redirect.PIPE, Seq("sql", script.toString), environment)
    val out = child.readRest()
    Result(child.exitCode(), out, Files.readString(log))

  private def nameOf(url: String): String = url.replaceFirst(".*///([^?]*)[?].*", "$1")

  folder.test("they say where the database is, and what the session begins with"): folder =>
    val url = newDatabase()
    val names = List("timezone", "datestyle", "client_encoding", "application_name", "work_mem")
    val settings = names.map(name => s"current_setting('$name')").mkString(" || ' | ' || ")
    val script = folder.resolve("script.sql")
    Files.write(script, s"CREATE TABLE t AS SELECT $settings || ' | é' AS s".getBytes(ISO_8859_1))
    val environment = Map(
      "PGHOST" -> s"$serverFolder",
      "PGPORT" -> "5432",
      "PGUSER" -> "postgres",
      "PGDATABASE" -> nameOf(url),
      "PGTZ" -> "Asia/Kathmandu",
      "PGDATESTYLE" -> "German",
      "PGCLIENTENCODING" -> "LATIN1",
      "PGAPPNAME" -> "mine",
      "PGOPTIONS" -> "-c work_mem=8MB",
      "PGSSLMODE" -> "require", // is not about Unix domain sockets
      "PGCONNECT_TIMEOUT" -> "5"
    )
    val result = run(folder, script, environment)
    assertEquals(result.code, 0, result.err)
    assertEquals(
      query(url, "SELECT s FROM t"),
      Vector("Asia/Kathmandu | German, DMY | LATIN1 | mine | 8MB | é")
    )

  folder.test("PGPASSFILE has the password for a folder of sockets, as psql looks there"): folder =>
    val url = newDatabase()
    val name = nameOf(url)
    execute(url, "CREATE ROLE walter LOGIN PASSWORD 'geheim'")
    val rules = serverFolder.resolve("data/pg_hba.conf")
    val before = Files.readString(rules)
    Files.writeString(rules, s"local $name walter scram-sha-256\n$before")
    execute(url, "SELECT pg_reload_conf()")
    val asWalter = url.replace("user=postgres", "user=walter")
    eventually("the server asks for a password")(Try(query(asWalter, "SELECT 1")).isFailure)
    val script = write(folder, "a.sql", "SELECT 1")
    val refused = weir("--db", asWalter, script.toString)
    assertEquals(refused.code, 2)
    assert(clue(refused.err).contains("no password was provided"))
    val passwords = folder.resolve("passwords")
    Files.writeString(passwords, s"*:1:*:*:wrong\n$serverFolder:5432:$name:walter:geheim\n")
    Files.setPosixFilePermissions(passwords, PosixFilePermissions.fromString("rw-------"))
    val environment = Map(
      "PGHOST" -> s"$serverFolder",
      "PGUSER" -> "walter",
      "PGDATABASE" -> name,
      "PGPASSFILE" -> passwords.toString
    )
    assertEquals(run(folder, script, environment).code, 0)

  folder.test("--db wins, and an embedded server is the program's own whatever they say"): folder =>
    val script = write(folder, "a.sql", "SELECT 1").toString
    val log = folder.resolve("log.txt")
    val wrong = Map("PGHOST" -> "nowhere.invalid", "PGPORT" -> "1", "PGDATABASE" -> "none")
    val flags = Seq(s"-Dweir.embedded=${sys.props("weir.embedded")}")
    val args = Seq("sql", "--db", "embedded", script)
    val child = ChildJvm.weir(log, flags, Redirect.PIPE, args, wrong)
    child.readRest(): Unit
    assertEquals(child.exitCode(), 0, Files.readString(log))
