package weir.postgres.psql

import java.io.ByteArrayInputStream
import java.nio.file.{Files, Path}
import java.util.Comparator
import scala.concurrent.duration.*
import scala.util.Using
import weir.Outcome
import weir.postgres.*

/** The programs of a script: when they are not run, and what ends them. */
class ShellSuite extends ServerSuite:
  private val folder = FunFixture[Path](
    _ => Files.createTempDirectory("weir-shell"),
    path =>
      Using.resource(Files.walk(path)):
        _.sorted(Comparator.reverseOrder()).forEach(Files.delete(_))
  )

  private def script(text: String) =
    SqlScript.fromInputStream("s.sql")(ByteArrayInputStream(text.getBytes("UTF-8")))

  private def options(folder: Path, allowsShell: Boolean, onError: OnError = OnError.Stop) =
    ApplyOptions(
      onError = onError,
      psql = PsqlOptions(folder = folder, allowsShell = allowsShell, results = Results.Table)
    )

  private lazy val url = server.unix(server.newDatabase())

  private def applied(text: String, options: ApplyOptions) =
    ScriptConnection.open(url).use(script(text).applyTo(_, options, ApplyListener.none))

  private val run = "echo run >> run.txt"
  private val places = List(
    s"\\! $run",
    s"\\echo `$run`",
    s"\\set a `$run`",
    s"\\if `$run`\n\\endif",
    s"\\if 0\n\\elif `$run`\n\\endif",
    s"\\i `$run`",
    s"\\c `$run`",
    s"\\o |$run",
    s"\\o `$run`",
    s"SELECT 1 \\g |$run",
    s"SELECT 1 \\g (format=`$run`)",
    s"SELECT 1 \\gset `$run`",
    s"\\copy (SELECT 1) to program '$run'",
    s"\\copy pg_class from program '$run'",
    s"\\setenv A `$run`",
    s"\\pset null `$run`"
  )

  folder.test("no program runs if that is not allowed, also where a run goes on"): folder =>
    for text <- places do
      val going = options(folder, allowsShell = false, OnError.Continue)
      val end = applied(text, going).attempt.runSync()
      val message = end.left.map(_.getMessage).left.getOrElse("")
      assert(message.contains("runs a program, which is refused here"), s"$text: $end")
      assert(!Files.exists(folder.resolve("run.txt")), text)

  folder.test("no program runs without a server"): folder =>
    for text <- places do
      val psql = PsqlOptions(folder = folder, allowsShell = true)
      script(s"$text\n").piecesWith(psql).drain.attempt.runSync(): Unit
      assert(!Files.exists(folder.resolve("run.txt")), text)

  private val waiting = "echo $$ > pid.txt; sleep 1000 & echo $! >> pid.txt; wait"
  private val ignoring = "trap \"\" TERM INT; echo $$ > pid.txt; echo $$ >> pid.txt; " +
    "while true; do sleep 0.1; done"

  for (place, text) <- List(
      "\\!" -> s"\\! $waiting",
      "backquotes" -> s"\\echo `$waiting`",
      "\\copy from" -> s"\\copy pg_class from program '$waiting'",
      "\\copy to" -> s"\\copy (SELECT repeat('a', 1000000)) to program '$waiting'",
      "\\o" -> s"\\o |$waiting\nSELECT repeat('a', 1000000);",
      "\\o, asleep" -> s"\\o |$waiting\nSELECT 1;\n\\o",
      "\\copy to, which ignores signals" ->
        s"\\copy (SELECT repeat('a', 1000000)) to program '$ignoring'"
    )
  do
    folder.test(s"a cancel ends a program and those that it has started: $place"): folder =>
      val pids = folder.resolve("pid.txt")
      val running = applied(s"$text\n", options(folder, allowsShell = true)).start.runSync()
      def alive = Files
        .readAllLines(pids)
        .toArray
        .map: line =>
          // one that has ended, and whose end its new parent has not seen, has no command
          ProcessHandle
            .of(line.toString.trim.toLong)
            .map(one => one.isAlive && one.info.command.isPresent)
            .orElse(false)
      eventually("it runs")(Files.exists(pids) && Files.readAllLines(pids).size == 2)
      running.cancel.timeout(20.seconds).runSync()
      assertEquals(running.join.runSync(), Outcome.Canceled)
      eventually("it has ended")(alive.toList.distinct == List(false))

  folder.test("more output in backquotes than memory should hold is an error"): folder =>
    val text = "\\if `head -c 100000000 /dev/zero | tr '\\\\0' a`\nSELECT nix;\n\\endif\n"
    val end = applied(text, options(folder, allowsShell = true)).attempt.runSync()
    val message = end.left.map(_.getMessage).left.getOrElse("")
    assert(message.contains("prints more than 8388608 bytes"), message)
    val going = options(folder, allowsShell = true, OnError.Continue)
    assertEquals(applied(text, going).runSync().errors, 1L)

  folder.test("\\copy takes much output of a program"): folder =>
    val text =
      "CREATE TABLE t (a text);\n\\copy t from program 'yes aaaaaaaa | head -c 9000000'\n" +
        "SELECT count(*) AS n FROM t \\gset\n\\if :n = 1000000\n\\endif\n"
    val summary = applied(text, options(folder, allowsShell = true)).runSync()
    assertEquals(summary.rows.toLong, 1000001L)

  folder.test("ROW_COUNT with --resume is an error"): folder =>
    val resume = options(folder, allowsShell = true).copy(resume = Some(Resume(_ => "s")))
    val end = applied("SELECT 1;\n\\echo :ROW_COUNT\n", resume).attempt.runSync()
    val message = end.left.map(_.getMessage).left.getOrElse("")
    assert(message.contains("cannot be used together with --resume"), s"$end")

  folder.test("a run that goes on passes over the end of a program whose data it has"): folder =>
    val own = server.unix(server.newDatabase())
    val resume = options(folder, allowsShell = true).copy(resume = Some(Resume(_ => "s")))
    val text = "CREATE TABLE t (a int);\n\\copy t from program 'echo 1; exit 3'\n" +
      "INSERT INTO t VALUES (2);\n\\copy t from program 'echo 3; exit 4'\n" +
      "INSERT INTO t VALUES (4);\n"
    def run() = ScriptConnection
      .open(own)
      .use(script(text).applyTo(_, resume, ApplyListener.none))
      .attempt
      .runSync()
      .left
      .map(_.getMessage)
    for code <- List(3, 4) do assert(clue(run()).left.exists(_.contains(s"exit code $code")))
    assertEquals(run().map(_.statements), Right(1L))

  private def errorOf(text: String, options: ApplyOptions): String =
    applied(text, options).attempt.runSync().left.map(_.getMessage).left.getOrElse("")

  folder.test("a program that stops reading is an error of \\copy, and its transaction goes on"):
    folder =>
      val rows = "SELECT repeat('a', 1000) FROM generate_series(1, 1000)"
      val message = errorOf(s"\\copy ($rows) to program 'true'\n", options(folder, true))
      assert(message.contains("true: could not write all data: the program reads no more"), message)
      val failing = errorOf(s"\\copy ($rows) to program 'exit 3'\n", options(folder, true))
      assert(failing.contains("child process exited with exit code 3"), failing)
      val ends = List(
        "kill -9 $$" -> "was terminated by signal 9: Killed",
        "nixnix" -> "nixnix: command not found",
        "./" -> "./: command not executable"
      )
      for (end, told) <- ends do
        val said = errorOf(s"\\copy ($rows) to program '$end'\n", options(folder, true))
        assert(said.contains(told), said)
      val full = "BEGIN;\n\\copy (SELECT 1) to '/dev/full'\nSELECT 1;\nCOMMIT;\n"
      assertEquals(applied(full, options(folder, true, OnError.Continue)).runSync().errors, 1L)

  folder.test("programs of arguments that psql does not read are not run"): folder =>
    val lines = List(
      s"\\nix `$run`",
      s"\\a `$run`",
      s"\\H `$run`",
      s"\\conninfo `$run`",
      s"\\errverbose `$run`",
      s"SELECT 1 \\g o.txt `$run`",
      s"SELECT 1 \\g (format=csv) o.txt `$run`",
      s"SELECT 1 AS a \\gset a `$run`"
    )
    for line <- lines do
      applied(s"$line\n", options(folder, true, OnError.Continue)).runSync(): Unit
      assert(!Files.exists(folder.resolve("run.txt")), line)
