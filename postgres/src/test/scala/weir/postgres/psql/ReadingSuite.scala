package weir.postgres.psql

import java.nio.charset.Charset
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*
import weir.WeirSuite
import weir.postgres.*

/** Scripts in encodings with backslashes in their characters, and with strings that have escapes:
  * each leaves the same rows and errors as psql does.
  */
class ReadingSuite extends NeedsPrograms, WeirSuite:
  override def limit: FiniteDuration = 2.minutes
  private lazy val psql = Programs.find("psql")
  protected def missing: Option[String] = Option.when(psql.isEmpty)("psql is not installed")
  private lazy val server = LoggedServer.shared
  private var databases = 0

  private def newDatabase(): String =
    databases += 1
    val name = s"followed$databases"
    server.create(name)
    name

  override def afterAll(): Unit =
    for i <- 1 to databases do server.drop(s"followed$i")

  /** The rows that are left, and the SQLSTATEs of errors. */
  private type Left = (Vector[String], Vector[String])

  private def byPsql(database: String, script: Path, encoding: String): Left =
    val command = Vector(s"${psql.get}", "-X", "-q", "-v", "VERBOSITY=sqlstate")
    val result = Programs.run(
      command ++ Vector("-d", database, "-f", s"$script"),
      server.environment + ("PGCLIENTENCODING" -> encoding)
    )
    val states = "ERROR:  (\\w{5})".r.findAllMatchIn(result.err).map(_.group(1)).toVector
    (rows(database), states)

  private def byWeir(database: String, script: Path, encoding: String, memory: Int): Left =
    var states = Vector.empty[String]
    val listener = new ApplyListener:
      override def failed(error: ScriptException): Unit =
        // After a refused COPY both read its data as statements. psql only prints its error.
        val isEndOfData = error.getMessage.contains("""\. is no command of psql""")
        if !isEndOfData then states :+= error.server.fold(error.getMessage)(_.sqlState)
    ScriptConnection
      .open(s"${server.url(database)}&client_encoding=$encoding")
      .use(
        SqlScript
          .file(script, ScriptLimits(memoryBytes = memory))
          .applyTo(_, ApplyOptions(onError = OnError.Continue), listener)
      )
      .runSync(): Unit
    (rows(database), states)

  private def rows(database: String): Vector[String] =
    val tables = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = " +
      "'public'::regnamespace ORDER BY 1"
    server
      .rows(database, tables)
      .flatMap(name => name +: server.rows(database, s"SELECT * FROM \"$name\" ORDER BY 1, 2"))

  private def same(script: Array[Byte], encoding: String = "UTF8", setting: String = ""): Left =
    ScriptRunner.withFile(script): file =>
      val theirs = newDatabase()
      if setting.nonEmpty then server.execute("postgres", s"ALTER DATABASE $theirs SET $setting")
      val expected = byPsql(theirs, file, encoding)
      for memory <- List(1 << 20, 40) do
        val ours = newDatabase()
        if setting.nonEmpty then server.execute("postgres", s"ALTER DATABASE $ours SET $setting")
        assertEquals(byWeir(ours, file, encoding, memory), expected, s"$memory bytes in memory")
      expected

  for (name, charset, hiding) <- List(
      ("SJIS", "windows-31j", "表ソ十ポ"),
      ("SHIFT_JIS_2004", "x-SJIS_0213", "表ソ十ポ"),
      ("BIG5", "x-windows-950", "功坼么俞"),
      ("GBK", "GBK", "乗俓亅刓"),
      ("GB18030", "GB18030", "乗俓𠀀ü刓"),
      ("UHC", "x-windows-949", "가각힣"),
      ("JOHAB", "x-Johab", "四安勞圍")
    )
  do
    test(s"a script in $name"):
      val first = hiding.take(1)
      val script =
        s"""CREATE TABLE "$hiding" (a text, b text);
           |INSERT INTO "$hiding" VALUES (E'1$hiding', '$hiding'); /* $hiding */ -- $hiding
           |INSERT INTO $hiding VALUES (E'2\\\\$hiding''\\\\', $$$first$$$hiding;$$$first$$);
           |COPY "$hiding" FROM stdin;
           |3$hiding\t$hiding
           |\\.
           |INSERT INTO "$hiding" VALUES (E'4', E'$first'), ('5' || nix, E'$hiding;'';');
           |INSERT INTO "$hiding" VALUES ('6', '${hiding.reverse};'); SELECT nix;
           |""".stripMargin
      val text = script.getBytes(Charset.forName(charset))
      val expected = Vector(s"1$hiding|$hiding", s"2\\$hiding'\\|$hiding;", s"3$hiding|$hiding") :+
        s"6|${hiding.reverse};"
      val errors = Vector("42703", "42703")
      // The server finds most characters of JOHAB invalid, by psql, too.
      val left = same(text, name)
      if name != "JOHAB" then assertEquals(left, (hiding +: expected, errors))
      val set = s"SET client_encoding = '$name';\n".getBytes
      val back = s"SET NAMES 'UTF8';INSERT INTO \"$hiding\" VALUES ('7', 'é€');\n".getBytes("UTF-8")
      val later = same(set ++ text ++ back)
      if name != "JOHAB" then assertEquals(later, (hiding +: expected :+ "7|é€", errors))

  private def strings(name: String, script: String, setting: String = "")(
      expected: Vector[String],
      errors: String*
  ): Unit = test(name):
    assertEquals(same(script.getBytes("UTF-8"), "UTF8", setting), (expected, errors.toVector))

  private val table = "CREATE TABLE t (a text, b text);\n"
  private val off = "SET standard_conforming_strings = off;\n"

  strings(
    "strings that have escapes",
    s"$off${table}INSERT INTO t VALUES ('1\\'', 'a;\\\\'), ('2', 'it''s'';\\'');\n" +
      "INSERT INTO t VALUES ('3' \n 'x\\'', B'101'::text || N'\\'' || X'1f'::text);\n" +
      "INSERT INTO t VALUES (E'4\\'', $$\\$$);\nRESET standard_conforming_strings;\n" +
      "INSERT INTO t VALUES ('5', '\\');\n"
  )(Vector("t", "1'|a;\\", "2|it's';'", "3x'|101'00011111", "4'|\\", "5|\\"))

  strings(
    "strings that have escapes by a setting of the database",
    s"${table}INSERT INTO t VALUES ('1\\'', ';');\nSET standard_conforming_strings = on;\n" +
      "INSERT INTO t VALUES ('2\\', ';');\nRESET ALL;\nINSERT INTO t VALUES ('3\\'', ';');\n",
    "standard_conforming_strings = off"
  )(Vector("t", "1'|;", "2\\|;", "3'|;"))

  strings(
    "strings that have escapes in a transaction",
    s"${table}BEGIN;\nSET LOCAL standard_conforming_strings = off;\n" +
      "INSERT INTO t VALUES ('1\\'', ';');\nCOMMIT;\nINSERT INTO t VALUES ('2\\', ';');\n" +
      s"BEGIN;\n${off}INSERT INTO t VALUES ('3\\'', ';');\nROLLBACK;\n" +
      s"INSERT INTO t VALUES ('4\\', ';');\nBEGIN;\n${off}COMMIT;\n" +
      "INSERT INTO t VALUES ('5\\'', ';');\nSELECT nix;\n"
  )(Vector("t", "1'|;", "2\\|;", "4\\|;", "5'|;"), "42703")

  strings(
    "strings without a backslash, though they might have escapes",
    s"$off${table}INSERT INTO t VALUES ('1', 'it''s'); INSERT INTO t VALUES ('2', ';');\n"
  )(Vector("t", "1|it's", "2|;"))

  strings(
    "a string with Unicode escapes has no others",
    s"$table${off}SELECT U&'\\'; INSERT INTO t VALUES ('1\\'', ';');\nSELECT u&'\\';\n" +
      "INSERT INTO t VALUES ('2', 'u'); --'\n"
  )(Vector("t", "1'|;", "2|u"), "0A000", "0A000")

  strings(
    "another session begins with its own settings",
    s"$table${off}INSERT INTO t VALUES ('1\\'', ';');\n\\connect -\n" +
      "INSERT INTO t VALUES ('2\\', ';');\n"
  )(Vector("t", "1'|;", "2\\|;"))

  private val users = "CREATE TABLE users (a text, b text);\nCREATE TABLE log (a text, b text);\n"
  private val copied = "SELECT 'c:\\'; COPY log (a) FROM stdin;\ndon't; DROP TABLE users; --\n\\.\n"

  strings(
    "a failed transaction takes its settings back, also by COMMIT",
    s"${users}BEGIN;\n${off}SELECT nix;\nCOMMIT;\n$copied"
  )(Vector("log", "don't; DROP TABLE users; --|null", "users"), "42703")

  strings(
    "a setting of a failed transaction is none",
    s"${users}BEGIN;\nSELECT nix;\n${off}COMMIT;\n$copied"
  )(Vector("log", "don't; DROP TABLE users; --|null", "users"), "42703", "25P02")

  strings(
    "a return to a savepoint takes a setting back",
    s"${users}BEGIN;\nSAVEPOINT a;\n${off}ROLLBACK TO a;\n${copied}COMMIT;\n"
  )(Vector("log", "don't; DROP TABLE users; --|null", "users"))

  strings(
    "COMMIT AND CHAIN begins a transaction with settings of its own",
    s"${table}BEGIN;\nCOMMIT AND CHAIN;\nSET LOCAL standard_conforming_strings = off;\n" +
      "INSERT INTO t VALUES ('1\\'', ';');\nCOMMIT;\nINSERT INTO t VALUES ('2\\', ';');\n"
  )(Vector("t", "1'|;", "2\\|;"))

  strings(
    "a function before \\gset changes how strings are read",
    s"${table}SELECT set_config('standard_conforming_strings', 'off', false) AS a \\gset\n" +
      "INSERT INTO t VALUES ('1\\'', ';');\n"
  )(Vector("t", "1'|;"))

  strings(
    "a row of \\gexec changes how those after it are read, and the script",
    s"${table}SELECT 'SET standard_conforming_strings = off', " +
      "$$INSERT INTO t VALUES ('1\\'', ';')$$ \\gexec\nINSERT INTO t VALUES ('2\\'', ';');\n"
  )(Vector("t", "1'|;", "2'|;"))

  strings(
    "a branch that is not taken is read by the settings of its place",
    s"$table$off\\if false\nINSERT INTO t VALUES ('it\\'s');\n\\endif\n" +
      "INSERT INTO t VALUES ('1\\'', ';');\n"
  )(Vector("t", "1'|;"))

  strings(
    "COPY is sent again by \\g, with data of its own",
    s"${table}COPY t FROM stdin;\n1\ta\n\\.\n\\g\n2\tb\n\\.\nINSERT INTO t VALUES ('3', '');\n"
  )(Vector("t", "1|a", "2|b", "3|"))

  for (name, charset) <- List("SJIS" -> "windows-31j", "GBK" -> "GBK") do
    test(s"commands and the values of variables in $name"):
      // The second byte of this character is a backslash.
      val hiding = String(Array(0x95.toByte, 0x5c.toByte), Charset.forName(charset))
      val script =
        s"""CREATE TABLE t (a text, b text);
           |SET client_encoding = '$name';
           |\\set label '$hiding''n'
           |INSERT INTO t VALUES (:'label', '1');
           |\\set label ${hiding}n
           |INSERT INTO t VALUES (:'label', '2');
           |SELECT '${hiding}n' AS x \\gset
           |INSERT INTO t VALUES (:'x', '3');
           |SELECT '$hiding''; DROP TABLE t; --\\' AS x, 'a"$hiding' AS y \\gset
           |INSERT INTO t VALUES (:'x', '4'); SELECT 1 AS :"y";
           |\\copy (select E'$hiding', '$hiding') to '/dev/null'
           |\\if false \\echo '$hiding'
           |\\endif
           |INSERT INTO t VALUES (:'label', '5');
           |""".stripMargin
      val rows = List(s"$hiding'n|1", s"${hiding}n|2", s"${hiding}n|3") ++
        List(s"$hiding'; DROP TABLE t; --\\|4", s"${hiding}n|5")
      val left = same(script.getBytes(Charset.forName(charset)))
      assertEquals((left._1.toSet, left._2), (rows.toSet + "t", Vector.empty))

  strings(
    "the query of \\copy has strings that have escapes",
    s"$table$off\\copy (select 'it\\'s (') to '/dev/null'\nINSERT INTO t VALUES ('1', '');\n"
  )(Vector("t", "1|"))

  test("the tags of two dollar strings differ by the bytes of their characters"):
    val script = "CREATE TABLE t (a text, b text);\nSET client_encoding = 'SJIS';\n" +
      "INSERT INTO t VALUES ($表$ a $十$; DROP TABLE t; $表$);\n"
    val left = same(script.getBytes("windows-31j"))
    assertEquals(left, (Vector("t", " a $十$; DROP TABLE t; |null"), Vector.empty))

  for (set, charset, value) <- List(
      ("SET standard_conforming_strings = off", "UTF-8", "'it\\'s;'"),
      ("SET client_encoding = 'SJIS'", "windows-31j", "'表;'")
    )
  do
    test(s"a run goes on behind $set"):
      val database = newDatabase()
      def run(divisor: Int) =
        val script =
          s"$set;\nCREATE TABLE t (a int, b text);\nINSERT INTO t VALUES (1, $value);\n" +
            s"SELECT 1/$divisor;\nINSERT INTO t VALUES (2, $value);\n"
        val source = SqlScript.fromInputStream("s.sql")(
          java.io.ByteArrayInputStream(script.getBytes(charset))
        )
        ScriptConnection
          .open(server.url(database))
          .use(source.applyTo(_, ApplyOptions(resume = Some(Resume()))))
          .attempt
          .runSync()
      val first = run(0)
      assert(first.left.exists(_.getMessage == "s.sql:4:1: ERROR: division by zero"), first)
      assertEquals(run(1).map(_.statements), Right(2L))
      val stored = value.drop(1).dropRight(1).replace("\\", "")
      assertEquals(rows(database), Vector("t", s"1|$stored", s"2|$stored"))

  test("a value that would take in the quote behind it is refused"):
    val script =
      "SET client_encoding = 'SJIS';\n\\set x '\\x95'\nSELECT :'x', '; DROP TABLE t; --';\n"
    val source = SqlScript.fromInputStream("s.sql")(java.io.ByteArrayInputStream(script.getBytes))
    val options = ApplyOptions(onError = OnError.Continue)
    val error = intercept[ScriptException](
      ScriptConnection
        .open(server.url("postgres"))
        .use(source.applyTo(_, options))
        .runSync()
    )
    assertEquals(
      error.getMessage,
      "s.sql:3:8: the value of the variable x is not valid in the encoding of the script"
    )

  test("the place of an error is counted in characters"):
    for (name, charset) <- List("SJIS" -> "windows-31j", "GB18030" -> "GB18030") do
      val text = s"SET client_encoding = '$name';\nSELECT '十表ü',\n '十表', /* 十 */ nix;\n"
      for memory <- List(1 << 20, 40) do
        val file = Files.write(Files.createTempFile("weir", ".sql"), text.getBytes(charset))
        try
          val error = intercept[ScriptException](
            ScriptConnection
              .open(server.url("postgres"))
              .use(SqlScript.file(file, ScriptLimits(memoryBytes = memory)).applyTo(_))
              .runSync()
          )
          assertEquals(error.position.map(at => (at.line, at.column)), Some((3L, 16L)), name)
          val place = text.getBytes(charset).indexOfSlice("nix".getBytes)
          assertEquals(error.position.map(_.offset), Some(place.toLong), name)
        finally Files.delete(file)
