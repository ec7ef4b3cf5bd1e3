package weir.postgres.split

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import weir.WeirSuite
import weir.postgres.ScriptLimits
import weir.postgres.split.Splits.Part

/** The cases that any splitter of psql scripts must know, each with the input cut at every byte. */
class SplitCasesSuite extends WeirSuite:
  import SplitCasesSuite.*

  splits("1: the last statement needs no semicolon", "SELECT 1;SELECT 2", "SELECT 1", "SELECT 2")
  splits("2: empty statements and mere comments are skipped", ";; /*c*/ ;SELECT 1;", "SELECT 1")
  splits(
    "3: a backslash is nothing in a plain string",
    "SELECT 'a\\';SELECT 2;",
    "SELECT 'a\\'",
    "SELECT 2"
  )
  splits(
    "4: a backslash escapes in an escape string",
    "SELECT e'a\\';b';SELECT 2;",
    "SELECT e'a\\';b'",
    "SELECT 2"
  )
  splits(
    "5: an escape string goes on after a newline, with its escapes",
    "SELECT E'a' --c\n'b\\';c';",
    "SELECT E'a' --c\n'b\\';c'"
  )
  splits(
    "5: an escape string does not go on without a newline",
    "SELECT E'a' 'b\\';c;",
    "SELECT E'a' 'b\\'",
    "c"
  )
  splits(
    "6: only E alone makes an escape string",
    "SELECT DATE'a\\';SELECT 2;",
    "SELECT DATE'a\\'",
    "SELECT 2"
  )
  splits("7: U& with UESCAPE", "SELECT U&'d!0061;' UESCAPE '!';", "SELECT U&'d!0061;' UESCAPE '!'")
  splits("8: a quoted identifier", "SELECT \"a\"\";b\";", "SELECT \"a\"\";b\"")
  splits("9: a dollar in an identifier", "SELECT 1 AS a$$;SELECT 2;", "SELECT 1 AS a$$", "SELECT 2")
  splits(
    "10: parameters",
    "PREPARE p AS SELECT $1+$2;SELECT 3;",
    "PREPARE p AS SELECT $1+$2",
    "SELECT 3"
  )
  splits(
    "11: a tag that does not match gives its dollar back",
    "SELECT $a$;$b$a$;SELECT 2;",
    "SELECT $a$;$b$a$",
    "SELECT 2"
  )
  splits("12: a tag of any letters", "DO $é$;$é$;", "DO $é$;$é$")
  splits("13: comments nest", "SELECT /*a/*;*/;*/1;", "SELECT /*a/*;*/;*/1")
  splits("14: an operator ends at a comment", "SELECT 1+/*;*/2--;\n;", "SELECT 1+/*;*/2--;\n")
  splits(
    "15: a semicolon in parentheses",
    "CREATE RULE r AS ON INSERT TO t DO (SELECT 1;SELECT 2);",
    "CREATE RULE r AS ON INSERT TO t DO (SELECT 1;SELECT 2)"
  )
  splits(
    "16: an atomic body",
    "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END;SELECT " +
      "2;END;SELECT 3;",
    "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END;SELECT 2;END",
    "SELECT 3"
  )
  splits(
    "16: an atomic body of a replaced procedure, with a comment",
    "create or replace procedure p() begin/**/atomic insert into t values(1);end;select 3",
    "create or replace procedure p() begin/**/atomic insert into t values(1);end",
    "select 3"
  )
  splits(
    "17: the word atomic elsewhere",
    "CREATE FUNCTION fn_atomic() RETURNS void LANGUAGE plpgsql AS $$BEGIN NULL;END$$;SELECT 1;",
    "CREATE FUNCTION fn_atomic() RETURNS void LANGUAGE plpgsql AS $$BEGIN NULL;END$$",
    "SELECT 1"
  )
  splits(
    "17: a function named begin",
    "CREATE FUNCTION begin() RETURNS int AS '1' LANGUAGE sql;SELECT 1;",
    "CREATE FUNCTION begin() RETURNS int AS '1' LANGUAGE sql",
    "SELECT 1"
  )
  splits("18: BEGIN of a transaction", "BEGIN;SELECT 1;END;", "BEGIN", "SELECT 1", "END")
  splits("30: a lone parenthesis", "SELECT 1));SELECT 2;", "SELECT 1))", "SELECT 2")
  splits("28: a byte-order mark", "\ufeffSELECT 1;", "SELECT 1")
  fails("28: a byte-order mark is no column", "\ufeff'", "1:1: unterminated")
  fails("28: nor is it one later in its line", "\ufeffSELECT 1;'", "1:10: unterminated")
  splits("29: restrict", "\\restrict K\nSELECT 1;\n\\unrestrict K\n", "SELECT 1")
  splits("29: restrict in a CRLF file", "\\restrict K\r\nSELECT 1;\r\n\\unrestrict K", "SELECT 1")
  splits("29: restrict within a statement", "SELECT\\restrict K\n1;", "SELECT\n1")
  splits(
    "an escaped semicolon joins",
    "SELECT 1\\;SELECT 2;SELECT 3",
    "SELECT 1;SELECT 2",
    "SELECT 3"
  )
  splits("an escaped colon", "SELECT \\:a;", "SELECT :a")
  splits(
    "comments before a statement",
    " -- a;\n /*+ h */ -- b\r SELECT 1;--c",
    "/*+ h */ -- b\r SELECT 1"
  )
  splits("a carriage return ends a comment", "--a\rSELECT 1", "SELECT 1")
  splits("no statement at all", "\ufeff")
  splits("a string with doubled quotes", "SELECT 'a'';b';c", "SELECT 'a'';b'", "c")
  splits("an escape string with doubled quotes", "SELECT E'a''\\';b';c", "SELECT E'a''\\';b'", "c")
  splits("an escaped newline", "SELECT E'\\\n';c", "SELECT E'\\\n'", "c")
  splits("an escape string, then a dash", "SELECT E'a'-'\\';c", "SELECT E'a'-'\\'", "c")
  splits("the E after a number begins no string", "SELECT 1e'\\';c", "SELECT 1e'\\'", "c")
  splits("the E after a parameter begins no string", "SELECT $1e'\\';c", "SELECT $1e'\\'", "c")
  splits("the E after a dollar begins a string", "SELECT $e'\\';';c", "SELECT $e'\\';'", "c")
  splits("numbers with exponents", "SELECT 1e+5.5e-3e'\\';c", "SELECT 1e+5.5e-3e'\\'", "c")
  splits("a number has one exponent", "SELECT 1e5E--;\n;c", "SELECT 1e5E--;\n", "c")
  fails("28: nor is it one in the line after it", "\ufeff\n '", "2:2: unterminated")
  splits("a dollar after a number opens", "SELECT 1$$;$$;c", "SELECT 1$$;$$", "c")
  splits("dollars within dollars", "DO $a$ $$;$$ $a $a$;c", "DO $a$ $$;$$ $a $a$", "c")
  splits("slashes and stars", "SELECT //*;**//*/;*/2;c", "SELECT //*;**//*/;*/2", "c")
  splits("a lone dash, slash, dollar at the end", "-", "-")
  splits("a lone slash at the end", "/", "/")
  splits("a statement of a dollar", "$;$a", "$", "$a")

  copies("19: data, then a statement", "COPY t(a) FROM STDIN;\n1\n\\.\nSELECT 1;")(
    "COPY t(a) FROM STDIN" -> "1\n",
    "SELECT 1" -> null
  )
  copies("20: a statement on the line of a copy", "COPY t FROM STDIN; SELECT 1;\n1\n\\.\n")(
    "COPY t FROM STDIN" -> "1\n",
    "SELECT 1" -> null
  )
  copies(
    "20: a statement that begins on the line of a copy",
    "COPY t FROM STDIN; SELECT 'a\n1\n\\.\nb';"
  )(
    "COPY t FROM STDIN" -> "1\n",
    "SELECT 'a\nb'" -> null
  )
  copies("21: two on one line", "COPY a FROM STDIN;COPY b FROM STDIN;\n1\n\\.\n2\n\\.\n")(
    "COPY a FROM STDIN" -> "1\n",
    "COPY b FROM STDIN" -> "2\n"
  )
  copies(
    "22: quotes, options, comments",
    "COPY \"x;y\".\"t\" FROM STDIN WITH (FORMAT csv, NULL ';' /*)*/) -- c\n ;\n\\.\n"
  )("COPY \"x;y\".\"t\" FROM STDIN WITH (FORMAT csv, NULL ';' /*)*/) -- c\n " -> "")
  copies("23: a CRLF body", "COPY t FROM STDIN;\r\n1\r\n\\.\r\nSELECT 1;")(
    "COPY t FROM STDIN" -> "1\r\n",
    "SELECT 1" -> null
  )
  copies(
    "24: what only looks like the end",
    "COPY t FROM STDIN;\n\\.x\nx\\.\n\\. \n\\\\.\n\\\n\\.\r\r\n\\\\\n\\.\n"
  )(
    "COPY t FROM STDIN" -> "\\.x\nx\\.\n\\. \n\\\\.\n\\\n\\.\r\r\n\\\\\n"
  )
  copies("26: with a condition", "COPY t FROM STDIN WHERE a>1;\n\\.\n")(
    "COPY t FROM STDIN WHERE a>1" -> ""
  )
  splits("26: from a file", "COPY t FROM '/f';1", "COPY t FROM '/f'", "1")
  splits(
    "26: out of a query",
    "COPY (SELECT a FROM stdin) TO STDOUT;1",
    "COPY (SELECT a FROM stdin) TO STDOUT",
    "1"
  )
  splits(
    "26: no copy at all",
    "INSERT INTO t SELECT 1 FROM stdin;1",
    "INSERT INTO t SELECT 1 FROM stdin",
    "1"
  )
  splits("26: a quoted name", "COPY t FROM \"stdin\";1", "COPY t FROM \"stdin\"", "1")
  splits("26: too many words", "COPY a.b.c.d.e.f FROM STDIN;1", "COPY a.b.c.d.e.f FROM STDIN", "1")
  copies("26: eight words", "COPY BINARY a.b.c.d FROM STDIN;\n\\.\n")(
    "COPY BINARY a.b.c.d FROM STDIN" -> ""
  )
  copies("26: STDOUT, which the server takes for STDIN", "/**/ copy t from/**/stdout;\n\\.\n")(
    "/**/ copy t from/**/stdout" -> ""
  )
  fails(
    "27: in CSV, a quoted line ends it too, and what follows is SQL",
    "COPY t FROM STDIN CSV;\n\"a\n\\.\nb\"\n\\.\n",
    "4:2: unterminated quoted identifier"
  )
  copies("27: in CSV, too, the data is up to the marker", "COPY t FROM STDIN CSV;\n\"a\n\\.\nb;")(
    "COPY t FROM STDIN CSV" -> "\"a\n",
    "b" -> null
  )
  fails(
    "35: a copy that ends with half a marker",
    "COPY t FROM STDIN;\n\\",
    "1:1: COPY data not ended by \\."
  )
  copies("the end of the file ends the last line", "COPY t FROM STDIN;SELECT 1\n1\n\\.")(
    "COPY t FROM STDIN" -> "1\n",
    "SELECT 1\n" -> null
  )

  test("25: a marker in the middle of a long row is data, wherever it is cut"):
    val row = "x".repeat(50_000) + "\\.\n".init + "y".repeat(50_000) + "\n"
    val script = bytes(s"COPY t FROM STDIN;\n$row\\.\n")
    val middle = script.indexOf('\\'.toByte)
    for cut <- middle - 3 to middle + 5 do
      assertEquals(
        Splits.of(script, List(cut)).parts.collect { case Part.Copy(_, _, data, _) => data },
        List(row)
      )

  fails("31: a string", "SELECT 'abc", "1:8: unterminated string literal")
  fails(
    "31: an escape string, at its E",
    "\nSELECT ä E'a'\n'bc\\",
    "2:10: unterminated string literal"
  )
  fails("31: with doubled quotes", "SELECT 'a''b", "1:8: unterminated string literal")
  fails("32: a dollar string", "SELECT $x$ a", "1:8: unterminated dollar-quoted string $x$")
  fails("33: a comment", "/* /* */", "1:1: unterminated comment")
  fails("33: a comment after a slash", "SELECT //* *", "1:9: unterminated comment")
  fails("34: a parenthesis", "SELECT (1;\n", "1:8: unclosed \"(\"")
  fails("34: the outermost parenthesis", "SELECT ((1)", "1:8: unclosed \"(\"")
  fails("35: a copy", "COPY t FROM STDIN;\n1\n", "1:1: COPY data not ended by \\.")
  fails(
    "35: a copy whose data does not begin",
    "COPY t FROM STDIN",
    "1:1: COPY data not ended by \\."
  )
  fails(
    "36: a command",
    "SELECT 1;\n\\watch 1",
    "2:1: the command \\watch of psql is not supported"
  )
  fails("36: no command", "SELECT \\xy y\n1", "1:8: \\xy is no command of psql")
  splits("36: a command within a statement", "SELECT \\x y\n1;2", "SELECT \n1", "2")
  splits(
    "36: what the server would not run is no statement",
    "SELECT 1 \\gdesc\nSELECT 2 \\parse a\n\\bind_named a 1 \\g\nSELECT $1 \\bind 3 \\g\n" +
      "\\close_prepared a\nSELECT 4;",
    "SELECT $1 ",
    "SELECT 4"
  )
  splits("36: what follows a command", "\\x \\\\ SELECT 1;\\t\\\\2;\n3", "SELECT 1", "2", "3")
  splits("36: what follows the last one", "1;\\x \\t\\\\ 2", "1", "2\n")
  copies("36: a COPY after a command", "\\x\\\\ COPY t FROM stdin; 2;\n1\n\\.\n3")(
    "COPY t FROM stdin" -> "1\n",
    "2" -> null,
    "3" -> null
  )
  copies("36: a command after a COPY", "COPY t FROM stdin;\\x\\\\2;\n1\n\\.\n3")(
    "COPY t FROM stdin" -> "1\n",
    "2" -> null,
    "3" -> null
  )
  fails(
    "29: a command after restrict",
    "\\restrict K\n\\x\n",
    "2:1: the command \\x after \\restrict"
  )
  fails(
    "29: another word",
    "\\restrict K\n\\unrestrict L\n",
    "2:1: \\unrestrict without its \\restrict"
  )

  splits("36: branches", "\\if 0\n'a;\\endif'\nb;\n\\else\nc;\n\\endif\nd", "c", "d")
  splits("36: a branch in a statement", "a (\\if 0\n));\\endif\nb;);c", "a (\nb;)", "c")
  splits("36: the end of the script by a command", "a;b\n\\q\nc;'", "a", "b\n")

  test("what follows a command has its position in the script"):
    everywhere(bytes("a\n;\\x é\\\\ SELECT é;")) { split =>
      val Part.Statement(_, start, positions) = split.parts.last: @unchecked
      assertEquals((start.toString, start.offset), ("2:9", 11L))
      assertEquals(positions(7).toString, "2:16")
    }

  test("a command that is carried out later comes between the statements, at its position"):
    everywhere(bytes("1;\n\\echo -n 'a''b' \"c\" \\echo d\n2;")) { split =>
      val commands = split.parts.collect { case Part.Command(name, arguments, start) =>
        (name, arguments, start.toString)
      }
      val first = ("echo", List("a'b \"c\""), "2:1")
      assertEquals(commands, List(first, ("echo", List("d\n"), "2:21")))
      assertEquals(split.parts.length, 4)
    }
  fails("29: restrict with more", "\\restrict K \\\\ SELECT 1;\n", "1:1: \\restrict takes one word")
  fails("37: a marker without a copy", "\n\\.\n", "2:1: end-of-copy marker outside COPY data")
  splits(
    "38: strings with backslashes",
    "SET standard_conforming_strings=off;'a\\';';b'\\';X'\\';n'\\';';E'\\';';'\\'' \n'\\';';" +
      "$$\\$$;SET standard_conforming_strings TO DEFAULT;'\\';d",
    "SET standard_conforming_strings=off",
    "'a\\';'",
    "b'\\'",
    "X'\\'",
    "n'\\';'",
    "E'\\';'",
    "'\\'' \n'\\';'",
    "$$\\$$",
    "SET standard_conforming_strings TO DEFAULT",
    "'\\'",
    "d"
  )
  for (encoding, charset) <- List(
      "SJIS" -> "windows-31j",
      "gbk" -> "GBK",
      "GB18030" -> "GB18030",
      "johab" -> "x-Johab"
    )
  do
    test(s"38: characters with backslashes in $encoding"):
      val text = if encoding == "johab" then "四安\\;" else "十乗ソ\\;"
      val statement = s"E'$text\\'x' /*$text;*/ \"$text\""
      val script = s"SET NAMES '$encoding';$statement;COPY t FROM STDIN;$statement;\n$text\n\\.\n" +
        s"$statement;'"
      val bytes = script.getBytes(charset)
      everywhere(bytes): split =>
        val sent = split.parts.collect:
          case Part.Statement(text, _, _) => String(text.getBytes(ISO_8859_1), charset)
          case Part.Copy(_, _, data, _) => String(data.getBytes(ISO_8859_1), charset)
        val first = s"SET NAMES '$encoding'"
        assertEquals(sent, List(first, statement, s"$text\n", statement, statement))
        val column = statement.length + 2
        assertEquals(split.error, Some(s"s.sql:4:$column: unterminated string literal"))
        val places = split.parts.collect { case Part.Statement(_, _, positions) => positions.last }
        assertEquals(places(1).column, first.length + 1L + statement.length)
  splits("38: UTF8 is fine", "SET client_encoding = 'UTF8';", "SET client_encoding = 'UTF8'")
  fails(
    "39: an atomic body",
    "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1;",
    "1:33: unclosed BEGIN ATOMIC"
  )
  fails("40: an archive", "PGDMP\u0001\u000e", "1:1: a custom-format dump, not an SQL script")
  fails("41: a NUL byte", "SELECT ä\u0000", "1:9: a NUL byte, which no SQL text may hold")
  for before <- List(
      "'",
      "\"",
      "E'",
      "E'\\",
      "$$",
      "$a$ $",
      "/*",
      "--",
      ";--",
      "a",
      "1",
      "\\restrict",
      "("
    )
  do fails(s"41: a NUL byte after $before", s"$before\u0000", s"1:${before.length + 1}: a NUL byte")
  fails(
    "a copy that is joined",
    "SELECT 1\\;COPY t FROM STDIN;",
    "1:1: COPY … FROM STDIN is joined"
  )
  fails(
    "a copy that others are joined to",
    "COPY t FROM STDIN\\;SELECT 1;",
    "1:1: COPY … FROM STDIN is joined"
  )

  test("UTF-32 is refused by its mark"):
    for charset <- List("UTF-32LE", "UTF-32BE") do
      everywhere("\uFEFFSELECT 1;".getBytes(charset))(split =>
        assertEquals(split.error, Some("s.sql:1:1: a UTF-32 file, by its byte-order mark"))
      )

  test("UTF-16 is refused by its mark"):
    val script = "SELECT 1;".getBytes("UTF-16")
    everywhere(script)(split =>
      assertEquals(split.error, Some("s.sql:1:1: a UTF-16 file, by its byte-order mark"))
    )

  test(
    "42: a statement over the limit fails at its start, with the limit, one of the limit does not"
  ):
    val limits = ScriptLimits(10)
    val long = Some("s.sql:2:3: statement exceeds 10 bytes")
    for script <- List(
        "\n  SELECT 1234;",
        "\n  SELECT 1234",
        "\n  SELECT 'abc",
        "\n  SELECT 1234\\x",
        "\n  SELECT 1234\u0000"
      )
    do everywhere(bytes(script), limits)(split => assertEquals(split.error, long))
    everywhere(bytes("\n  SELECT 123;SELECT 456"), limits)(split => assertEquals(split.error, None))

  test(
    "the position of a character of a statement is that in the script, over what is left out, too"
  ):
    val script = "-- ü\n COPY t FROM STDIN; SELECT é\n1\nää\n\\.\n\\restrict K\nx\\;a;"
    everywhere(bytes(script)) { split =>
      val Part.Statement(text, start, positions) = split.parts.last: @unchecked
      assertEquals(String(text.getBytes(ISO_8859_1), UTF_8), "SELECT é\n\nx;a")
      assertEquals(start.toString, "2:21")
      assertEquals(positions(7).toString, "2:28")
      assertEquals(positions(10).toString, "6:12", "the newline after what is left out")
      assertEquals(positions(11).toString, "7:1")
      assertEquals(positions(12).toString, "7:3", "the semicolon after its backslash")
      assertEquals(positions(12).offset, bytes(script).length - 3L)
    }

  test("43: the position that the server gives counts characters from 1"):
    val splitter = Splitter("s.sql")
    val script = bytes("\n\n  SELECT 'äö' || x;")
    splitter.feed(script, script.length)
    splitter.finish()
    val statement = splitter.next().asInstanceOf[weir.postgres.Piece.Statement]
    assertEquals(
      List(1, 9, 10, 16, 17, 99).map(statement.positionOf(_).toString),
      List("3:3", "3:11", "3:12", "3:18", "3:19", "3:19")
    )

  test("the marker of a copy has the position of its line"):
    everywhere(bytes("COPY t FROM STDIN;\n1\n2\n\\.\n")) { split =>
      val Part.Copy(_, start, _, end) = split.parts.head: @unchecked
      assertEquals(
        (start.toString, end.map(_.toString), end.map(_.offset)),
        ("1:1", Some("4:1"), Some(23L))
      )
    }

  private def splits(name: String, script: String, statements: String*): Unit =
    copies(name, script)(statements.map(_ -> null)*)

  /** The statements of a script, each with the data of its copy, or null. */
  private def copies(name: String, script: String)(expected: (String, String | Null)*): Unit =
    test(name) {
      everywhere(bytes(script)) { split =>
        assertEquals(split.error, None)
        assertEquals(texts(split), expected.toList)
      }
    }

  private def fails(name: String, script: String, error: String): Unit = test(name) {
    everywhere(bytes(script)) { split =>
      assert(split.error.exists(_.startsWith(s"s.sql:$error")), s"${split.error} is not $error")
    }
  }

  private def texts(split: Splits): List[(String, String | Null)] = split.parts.collect {
    case Part.Statement(text, _, _) => utf(text) -> null
    case Part.Copy(text, _, data, _) => utf(text) -> utf(data)
  }

  private def everywhere(script: Array[Byte], limits: ScriptLimits = ScriptLimits.default)(
      check: Splits => Unit
  ): Unit =
    val whole = Splits.whole(script, limits)
    check(whole)
    val same = Splits.bytewise(script, limits)
    assertEquals(same, whole, "in blocks of one byte")
    if limits == ScriptLimits.default then
      for cuts <- List(Nil, 1 until script.length); split <- Splits.inFiles(script, cuts) do
        assertEquals(split, whole, "in files")
    for first <- 0 to script.length do
      assertEquals(Splits.of(script, List(first), limits), whole, s"cut at $first")
      if script.length <= 60 then
        for second <- first to script.length do
          assertEquals(
            Splits.of(script, List(first, second), limits),
            whole,
            s"cut at $first, $second"
          )

object SplitCasesSuite:
  private def bytes(script: String): Array[Byte] = script.getBytes(UTF_8)
  private def utf(latin: String): String = String(latin.getBytes(ISO_8859_1), UTF_8)
