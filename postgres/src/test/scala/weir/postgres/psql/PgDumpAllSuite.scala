package weir.postgres.psql

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.nio.file.{Files, Path}
import java.sql.DriverManager
import scala.concurrent.duration.*
import scala.util.Using
import weir.Tier
import weir.postgres.*

/** The output of pg_dumpall makes one cluster of another. In the long tier: it starts two. */
class PgDumpAllSuite extends NeedsPrograms:
  override def munitTimeout: Duration = 3.minutes

  private val pgDumpAll = Programs.find("pg_dumpall").filter(Programs.majorVersion(_) >= 15)

  protected def missing: Option[String] =
    Option.when(pgDumpAll.isEmpty)("There is no pg_dumpall of version 15 or newer.")

  private def withCluster[A](body: EmbeddedPostgres => A): A = Using.resource(
    EmbeddedPostgres
      .builder()
      .setLocaleConfig("locale", "C")
      .setServerConfig("fsync", "off")
      .start()
  )(body)

  private def execute(cluster: EmbeddedPostgres, database: String, statements: String*): Unit =
    val url = s"jdbc:postgresql://localhost:${cluster.getPort}/$database?user=postgres"
    Using.resource(DriverManager.getConnection(url)): connection =>
      Using.resource(connection.createStatement())(on => statements.foreach(on.execute(_): Unit))

  private def fill(cluster: EmbeddedPostgres): Unit =
    execute(
      cluster,
      "postgres",
      "CREATE ROLE \"it's a; role\" LOGIN PASSWORD 'secret' CONNECTION LIMIT 7",
      "CREATE ROLE reader",
      "GRANT reader TO \"it's a; role\" WITH ADMIN OPTION",
      "CREATE DATABASE one OWNER \"it's a; role\" CONNECTION LIMIT 9",
      "CREATE DATABASE \"two; \\ 'x'\" ENCODING 'LATIN1' TEMPLATE template0",
      "ALTER DATABASE one SET work_mem = '5MB'",
      "ALTER ROLE reader SET standard_conforming_strings = off"
    )
    for database <- List("one", "two;%20%5C%20'x'") do
      execute(
        cluster,
        database,
        "CREATE TABLE t (i int PRIMARY KEY, s text)",
        "INSERT INTO t SELECT i, repeat(chr(228) || E'\\\\.\\t\\n;''', i) " +
          "FROM generate_series(1, 99) i",
        "CREATE VIEW v AS SELECT s FROM t",
        "GRANT SELECT ON t TO reader",
        "SELECT lo_from_bytea(0, 'abc')"
      )

  private def dumpTo(file: Path, cluster: EmbeddedPostgres): Vector[String] =
    val port = cluster.getPort.toString
    val command =
      Vector(s"${pgDumpAll.get}", "-h", "localhost", "-p", port, "-U", "postgres", "-f", s"$file")
    val result = Programs.run(command, Map("PGPASSWORD" -> "postgres"))
    assertEquals(result.code, 0, result.err)
    val lines = String(Files.readAllBytes(file), "ISO-8859-1").split("\n").toVector
    lines.filterNot(_.matches("\\\\(un)?restrict .*"))

  private final class Told extends ApplyListener:
    var errors = List.empty[String]
    override def failed(error: ScriptException): Unit = errors = errors :+ error.getMessage

  if Tier.isLong then
    test("pg_dumpall"):
      withCluster: source =>
        fill(source)
        ScriptRunner.withFile(Array.empty): file =>
          val before = dumpTo(file, source)
          withCluster: target =>
            val told = Told()
            val url = s"postgresql://postgres:postgres@localhost:${target.getPort}/postgres"
            ScriptConnection
              .open(url)
              .use(SqlScript.file(file).applyTo(_, ApplyOptions(OnError.Continue), told))
              .runSync(): Unit
            val existing = "ERROR: role \"postgres\" already exists"
            assertEquals(told.errors.map(_.replaceFirst("^[^ ]* ", "")), List(existing))
            ScriptRunner.withFile(Array.empty)(again => assertEquals(dumpTo(again, target), before))
