package weir.postgres.psql

import java.io.ByteArrayInputStream
import scala.collection.mutable
import weir.postgres.*

/** The commands of psql in scripts that are applied, and those that are refused. */
class CommandsSuite extends ServerSuite:

  private final class Told extends ApplyListener:
    val told = mutable.ListBuffer.empty[String]
    override def printed(script: String, text: String, isForErrors: Boolean): Unit =
      told += (if isForErrors then s"warn $text" else text)
    override def passedOver(script: String, position: Position, name: String): Unit =
      told += s"$position $name"
    override def statementDone(
        script: String,
        statement: Piece.Statement,
        done: Done,
        nanos: Long
    ): Unit = told += String(statement.text)
    override def failed(error: ScriptException): Unit = told += error.getMessage

  /** One for all tests that leave nothing in it. */
  private lazy val url = server.unix(server.newDatabase())

  private def apply(
      text: String,
      options: ApplyOptions = ApplyOptions(),
      charset: String = "UTF-8"
  ): List[String] =
    val told = Told()
    val script = SqlScript.fromInputStream("s.sql")(ByteArrayInputStream(text.getBytes(charset)))
    val end = ScriptConnection.open(url).use(script.applyTo(_, options, told)).attempt.runSync()
    told.told.toList ++ end.left.toOption.map(_.getMessage)

  test("what a script prints comes between its statements"):
    val told = apply("\\echo a\nSELECT 1;\n\\warn -n b\nSELECT 2;\n\\echo 'ü' \\echo c\n")
    assertEquals(told, List("a\n", "SELECT 1", "warn b", "SELECT 2", "ü\n", "c\n"))

  test("commands that only display are passed over, each with its position"):
    val told = apply("\\timing\nSELECT 1 \\x \\d+ a b\n;\\pset\n\\sf f(int) -- x\n\\p\n")
    assertEquals(
      told,
      List("1:1 timing", "2:13 d+", "SELECT 1 \n", "3:2 pset", "4:1 sf", "5:1 p")
    )

  test("commands that only display are refused if the options say so"):
    val strict = ApplyOptions(psql = PsqlOptions(isStrict = true))
    val message = "s.sql:2:1: \\timing only displays, which is refused here"
    assertEquals(apply("\\echo a\n\\timing\n", strict).last, message)

  private val failing = "SELECT 1/0;"
  private val failed = "ERROR: division by zero"

  test("ON_ERROR_STOP says from its place on if an error ends the run"):
    val off =
      s"\\set ON_ERROR_STOP off\n$failing\n\\echo a\n\\set ON_ERROR_STOP\n$failing\nSELECT 2;"
    assertEquals(apply(off), List(s"s.sql:2:1: $failed", "a\n", s"s.sql:5:1: $failed"))
    assertEquals(apply(s"$failing\n\\echo a\n"), List(s"s.sql:1:1: $failed"))
    val unset = s"\\unset ON_ERROR_STOP\n$failing\n\\echo a\n"
    assertEquals(apply(unset), List(s"s.sql:2:1: $failed", "a\n"))

  test("ECHO of errors shows each statement that fails, without secrets"):
    val script = "\\set ECHO errors\n\\set ON_ERROR_STOP off\nSELECT\n\n 1/0;\nSELECT 2;\n" +
      "ALTER ROLE nix PASSWORD 'geheim';\n\\set ON_ERROR_STOP on\nSELECT 3/0;\n"
    val expected = List(
      "s.sql:3:1: ERROR: division by zero",
      "warn s.sql:3:1: STATEMENT:  SELECT\n 1/0;\n",
      "SELECT 2",
      "s.sql:7:1: ERROR: role \"nix\" does not exist",
      "warn s.sql:7:1: STATEMENT:  ALTER ROLE nix PASSWORD '***';\n",
      "warn s.sql:9:1: STATEMENT:  SELECT 3/0;\n",
      "s.sql:9:1: ERROR: division by zero"
    )
    assertEquals(apply(script), expected)

  test("ECHO of errors shows the statement whose row \\gset does not get"):
    val off = "\\set ECHO errors\n\\set ON_ERROR_STOP off\n"
    val told = apply(off + "SELECT 1 WHERE false \\gset\n\\i nix.sql\n")
    assertEquals(
      told.slice(1, 3),
      List(
        "s.sql:3:22: no rows returned for \\gset",
        "warn s.sql:3:1: STATEMENT:  SELECT 1 WHERE false \n"
      )
    )
    assert(clue(told.drop(3)).forall(!_.contains("STATEMENT")))

  test("ECHO of queries prints those of a pipeline, and no text for what was prepared"):
    val script = "\\set ECHO queries\nSELECT 1 \\parse s\n\\startpipeline\nSELECT 2;\n" +
      "SELECT $1::int \\bind 3 \\sendpipeline\n\\bind_named s \\sendpipeline\n\\endpipeline\n" +
      "\\bind_named s \\g\n\\close_prepared s\n"
    val printed = apply(script).filter(_.endsWith("\n"))
    assertEquals(printed, List("SELECT 1 \n", "SELECT 2;\n", "SELECT $1::int \n"))

  test("\\echo and ECHO print text in the encoding of the session"):
    for (encoding, charset) <- List("SJIS" -> "windows-31j", "LATIN1" -> "ISO-8859-1") do
      val text = if encoding == "SJIS" then "表ソ" else "é"
      val script = s"\\set ECHO all\n\\echo '$text'\n\\set x $text\n\\echo :x\n"
      val told = apply(s"SET client_encoding = '$encoding';\n$script", charset = charset)
      val echo = s"\\echo '$text'\n"
      val lines = List(echo, s"$text\n", s"\\set x $text\n", "\\echo :x\n", s"$text\n")
      assertEquals(told.drop(1), lines)

  test("ON_ERROR_STOP on ends the run although the options go on after errors"):
    val goesOn = ApplyOptions(onError = OnError.Continue)
    val script = s"$failing\n\\echo :ON_ERROR_STOP\n\\set ON_ERROR_STOP 1\n$failing\n\\echo b\n"
    assertEquals(
      apply(script, goesOn),
      List(s"s.sql:1:1: $failed", "off\n", s"s.sql:4:1: $failed")
    )

  test("ON_ERROR_STOP among the given variables has the same effect as in the script"):
    val off = ApplyOptions(psql = PsqlOptions(Map("ON_ERROR_STOP" -> "0")))
    assertEquals(apply(s"$failing\n\\echo a\n", off), List(s"s.sql:1:1: $failed", "a\n"))

  test("ON_ERROR_STOP cannot be off in one transaction or with a journal"):
    for (options, name) <- List(
        ApplyOptions(singleTransaction = true) -> "--single-transaction",
        ApplyOptions(resume = Some(Resume())) -> "--resume"
      )
    do
      val told = apply("SELECT 1;\n\\set ON_ERROR_STOP off\n", options)
      assertEquals(told.last, s"s.sql:2:1: ON_ERROR_STOP cannot be off together with $name")

  test("variables that are given are replaced"):
    val variables = ApplyOptions(psql = PsqlOptions(Map("a" -> "1", "b" -> "it's ü")))
    assertEquals(
      apply("SELECT :a, :'b' ;\n\\echo :b :{?c}", variables),
      List("SELECT 1, 'it''s ü' ", "it's ü FALSE\n")
    )

  test("an error after the value of a variable is at its place in the script, in a value at it"):
    val variables = ApplyOptions(psql = PsqlOptions(Map("a" -> "'long value'", "b" -> "\nnix")))
    assertEquals(
      apply("SELECT :a,\n 'ü', :a, nix;", variables),
      List("s.sql:2:11: ERROR: column \"nix\" does not exist")
    )
    assertEquals(
      apply("SELECT :a,\n :a, :b, 1;", variables),
      List("s.sql:2:6: ERROR: column \"nix\" does not exist")
    )

  test("variables hold from script to script"):
    val told = Told()
    def script(name: String, text: String) =
      SqlScript.fromInputStream(name)(ByteArrayInputStream(text.getBytes("UTF-8")))
    val both = List(script("a", "\\set x 7\n"), script("b", "\\echo :x\n"))
    ScriptConnection.open(url).use(SqlScripts.applyTo(_, both, listener = told)).runSync(): Unit
    assertEquals(told.told.toList, List("7\n"))

  for (script, error) <- List(
      "\\close a" -> "\\close is no command of psql",
      "\\parse" -> "\\parse: missing required argument",
      "\\bind_named" -> "\\bind_named: missing required argument",
      "\\close_prepared" -> "\\close_prepared: missing required argument",
      "\\sendpipeline" -> "\\sendpipeline not allowed outside of pipeline mode",
      "\\syncpipeline" -> "\\syncpipeline not allowed outside of pipeline mode",
      "\\endpipeline" -> "\\endpipeline not allowed outside of pipeline mode",
      "\\getresults" -> "No pending results to get",
      "\\getresults -1" -> "\\getresults: invalid number of requested results",
      "\\prompt" -> "\\prompt: missing required argument",
      "\\g |f" -> "| runs a program, which is refused here",
      "\\g (format=csv" -> "\\g: missing right parenthesis",
      "\\! echo a" -> "\\! runs a program, which is refused here",
      "\\o |f" -> "| runs a program, which is refused here",
      "\\COPY t FROM PROGRAM 'f'" -> "\\copy runs a program, which is refused here",
      "\\nix" -> "\\nix is no command of psql",
      "\\echo 'a" -> "unterminated quoted string in the arguments of a command",
      "\\echo \"a" -> "unterminated quoted string in the arguments of a command",
      "\\echo `date`" -> "a backquote runs a program, which is refused here",
      "\\set ON_ERROR_STOP maybe" -> "\"maybe\" is no value of the variable ON_ERROR_STOP",
      "\\set VERBOSITY loud" -> "\"loud\" is no value of the variable VERBOSITY",
      "\\set FETCH_COUNT many" -> "\"many\" is no value of the variable FETCH_COUNT",
      "\\set a-b c" -> "\"a-b\" is no name of a variable",
      "\\if 1\\else" -> "\\if without \\endif",
      "\\endif" -> "\\endif without \\if",
      "\\elif 1" -> "\\elif without \\if",
      "\\if 0 \\else \\elif 1 \\endif" -> "\\elif after \\else",
      "\\if 0 \\nix \\endif" -> "\\nix is no command of psql",
      "\\getenv a" -> "\\getenv takes two arguments",
      "\\setenv" -> "\\setenv without the name of a variable",
      "\\unset" -> "\\unset without the name of a variable",
      "\\set AUTOCOMMIT off" -> "AUTOCOMMIT is not supported: it changes how psql runs the script",
      "\\set SINGLELINE on" -> "SINGLELINE is not supported: it changes how psql runs the script",
      "\\set a 'COPY t FROM stdin;'\n:a\n" -> "COPY … FROM STDIN in the value of a variable",
      "\\set a '\\\\x'\n:a\n" -> "a backslash in the value of a variable"
    )
  do
    test(s"refused: ${script.replace("\n", " ")}"):
      val place = if script.contains("\n") then "2:1" else "1:1"
      val inBlock = error.startsWith("\\elif after") || script.startsWith("\\if 0 \\nix")
      val expected = if inBlock then error else s"s.sql:$place: $error"
      assert(apply(script).lastOption.exists(_.endsWith(expected)), apply(script))

  test("options refuse a variable that psql would not take"):
    for (name, value) <- List("a b" -> "1", "QUIET" -> "x", "AUTOCOMMIT" -> "off") do
      val error = intercept[IllegalArgumentException](PsqlOptions(Map(name -> value)))
      assert(error.getMessage.startsWith("PsqlOptions: "), error.getMessage)

  test("a run that goes on prints only what comes after the place at which the last one ended"):
    val url = server.unix(server.newDatabase())
    def run(text: String) =
      val told = Told()
      val options = ApplyOptions(resume = Some(Resume()))
      val script = SqlScript.fromInputStream("r.sql")(ByteArrayInputStream(text.getBytes("UTF-8")))
      ScriptConnection.open(url).use(script.applyTo(_, options, told)).attempt.runSync(): Unit
      told.told.toList
    val begin = "\\set x 5\n\\echo a\nCREATE TABLE t AS SELECT :x AS i;\n\\echo b\n"
    assertEquals(run(s"${begin}SELECT 1/0, :x;\n\\echo c\n").take(2).head, "a\n")
    assertEquals(run(s"${begin}INSERT INTO t VALUES (:x);\n\\echo c\n").last, "c\n")
    assert(!run(s"${begin}INSERT INTO t VALUES (:x);\n\\echo c\n").contains("a\n"))
