package weir.postgres.psql

import java.nio.file.{Files, Path}

import ServerLog.Event

/** Runs the scripts of the recorded cases by psql 15, and writes anew what it did; those with
  * commands of later versions by psql 18, if it is that which is found or named:
  *
  * {{{
  * sbt 'postgres/Test/runMain weir.postgres.psql.RecordPsql'
  * sbt 'postgres/Test/runMain weir.postgres.psql.RecordPsql /usr/lib/postgresql/18/bin/psql'
  * }}}
  *
  * Only the scripts of the files count; the rest of them is replaced. Statements must return no
  * rows, which psql would print, but in the cases about that.
  */
object RecordPsql:
  def main(args: Array[String]): Unit =
    val named = args.headOption.map(Path.of(_)).orElse(Programs.find("psql"))
    val psql = named.getOrElse(throw AssertionError("There is no psql here."))
    val files = Programs.majorVersion(psql) match
      case 15 => RecordedCase.files ++ RecordedCase.answered ++ RecordedCase.printing
      case 18 => RecordedCase.latest
      case version => throw AssertionError(s"psql is of version $version, not 15 or 18.")
    val server = LoggedServer.shared
    server.create("recorded")
    server.create(RecordedCase.otherDatabase)
    val sources = Path.of("postgres/src/test/resources/weir/postgres/psql/commands")
    val folder = if Files.isDirectory(sources) then sources else Path.of("..").resolve(sources)
    for name <- files do
      val file = folder.resolve(s"$name.txt")
      val cases = RecordedCase.read(Files.readString(file)).map(record(server, psql, _, name))
      Files.writeString(file, cases.map(_.show).mkString): Unit

  private def record(
      server: LoggedServer,
      psql: Path,
      before: RecordedCase,
      file: String
  ): RecordedCase =
    DatabaseContents.clear(server, "recorded")
    server.log.forget()
    val command =
      Vector(s"$psql", "-X", "-q", "-v", "VERBOSITY=sqlstate", "-v", "first=recorded") ++
        (if (RecordedCase.printing ++ RecordedCase.latest).contains(file) then Nil
         else Vector("-A", "-t"))
    val result = RecordedCase.inFolder(before): folder =>
      Programs.run(
        command ++ Vector("-d", "recorded", "-f", "s.sql"),
        server.environment,
        folder = Some(folder)
      )
    val warned = result.err.linesIterator.filterNot(_.startsWith("psql:")).map(_ + "\n").mkString
    val sent = server.logged("recorded", RecordedCase.otherDatabase).collect {
      case Event.Sent(sql) => sql
      case Event.Failed(state = "42601", query = sql) => sql // no statement is logged then
    }
    val ofScript = sent.filterNot(RecordedCase.describes)
    before.copy(printed = result.out, warned = warned, sent = ofScript)
