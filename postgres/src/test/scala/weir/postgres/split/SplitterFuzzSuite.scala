package weir.postgres.split

import java.nio.charset.StandardCharsets.UTF_8
import scala.concurrent.duration.*
import scala.util.Random
import weir.postgres.split.Splits.Part
import weir.{Tier, WeirSuite}

/** Random scripts, each split whole, byte by byte, at random cuts, and by the naive splitter:
  * always into the same.
  *
  * `-Dweir.fuzz.seconds=600` goes on for longer, `-Dweir.fuzz.seed=…` begins where another run did.
  */
class SplitterFuzzSuite extends WeirSuite:
  private val time = Integer.getInteger("weir.fuzz.seconds", 2).intValue.seconds
  override def limit: FiniteDuration = time * 4 + 30.seconds

  fuzz("random mixes of what the lexer knows")(mix(_, SplitterFuzzSuite.tokens))
  fuzz("mixes that are mostly sound")(mix(_, SplitterFuzzSuite.sound))
  fuzz("random bytes") { random =>
    val bytes = new Array[Byte](random.nextInt(80))
    random.nextBytes(bytes)
    bytes
  }
  fuzz("scripts with some bytes changed") { random =>
    val script =
      SplitterFuzzSuite.scripts(random.nextInt(SplitterFuzzSuite.scripts.size)).getBytes(UTF_8)
    var mutated = script
    for _ <- 0 to random.nextInt(3) do
      val at = random.nextInt(mutated.length + 1)
      val (before, after) = mutated.splitAt(at)
      mutated = random.nextInt(3) match
        case 0 => before ++ after.drop(1)
        case 1 => before ++ mix(random, SplitterFuzzSuite.tokens).take(6) ++ after
        case _ => before ++ after.drop(random.nextInt(6)) ++ before.take(random.nextInt(20))
    mutated
  }

  fuzz("data of what the end of data consists of") { random =>
    val data = List.fill(random.nextInt(300))("\\\\..\n\n\rNx" (random.nextInt(9))).mkString
    s"COPY t FROM STDIN;\n$data\n\\.\nSELECT 1".getBytes(UTF_8)
  }

  private def fuzz(name: String)(script: Random => Array[Byte]): Unit = test(name) {
    val first = Tier.seed("weir.fuzz.seed")
    println(s"SplitterFuzzSuite, $name: -Dweir.fuzz.seed=$first")
    val deadline = (time / 5).fromNow
    var seed = first
    var sound, copies = 0
    while seed < first + 50 || deadline.hasTimeLeft() do
      val random = Random(seed * 0x9e3779b97f4a7c15L) // neighbours begin alike otherwise
      val split = check(script(random), random, seed)
      if split.error.isEmpty then sound += 1
      if split.parts.exists(_.isInstanceOf[Part.Copy]) then copies += 1
      seed += 1
    println(s"${seed - first} scripts, $sound of them sound, $copies with a COPY")
  }

  private def check(script: Array[Byte], random: Random, seed: Long): Splits =
    def clue(what: String) = s"$what, -Dweir.fuzz.seed=$seed, of ${quoted(script)}"
    try
      val whole = Splits.whole(script)
      val naive = NaiveSplitter(script)
      if !naive.error.exists(_.endsWith(s": ${NaiveSplitter.unknown}")) then
        assertEquals(whole, naive, clue("not as the naive splitter"))
      else
        assertEquals(
          whole.copy(parts = whole.parts.take(naive.parts.length), None),
          naive.copy(error = None),
          clue("not as the naive splitter, up to a command")
        )
      assertEquals(Splits.bytewise(script), whole, clue("byte by byte"))
      for split <- Splits.inFiles(script, List(random.nextInt(script.length + 1))) do
        assertEquals(split, whole, clue("in files"))
      for _ <- 1 to 3 do
        val cuts = List.fill(1 + random.nextInt(6))(random.nextInt(script.length + 1)).sorted
        assertEquals(Splits.of(script, cuts), whole, clue(s"cut at $cuts"))
      whole
    catch
      case e: munit.FailExceptionLike[?] => throw e
      case e: Throwable => fail(clue(s"$e"), e)

  private def quoted(script: Array[Byte]): String =
    "\"" + Splits.latin(script).flatMap {
      case '\n' => "\\n"
      case '\r' => "\\r"
      case '"' => "\\\""
      case '\\' => "\\\\"
      case c if c < 32 || c > 126 => f"\\u${c.toInt}%04x"
      case c => c.toString
    } + "\""

  private def mix(random: Random, tokens: Vector[String]): Array[Byte] =
    List
      .fill(random.nextInt(30))(tokens(random.nextInt(tokens.size)))
      .mkString
      .getBytes(UTF_8)

object SplitterFuzzSuite:
  /** All that a statement may consist of, sound by itself. */
  private val sound: Vector[String] = Vector(
    " ",
    "\n",
    "\r\n",
    "\t",
    ";",
    ";\n",
    "; ",
    "a",
    "E",
    "select ",
    "x1",
    "é",
    "1",
    "1.5",
    "1e5",
    ".",
    "..",
    "$1",
    "+",
    "-",
    "/",
    "*",
    "=",
    ",",
    "::",
    "''",
    "'a;b'",
    "'\\'",
    "E'\\';'",
    "e'a''b'",
    "E'a'\n'\\';'",
    "E'a' --x\n",
    "U&'\\;'",
    "\"a;\"\"b\"",
    "$$;$$",
    "$a$ $b$ ; $a$",
    "a$b",
    "$x ",
    "(;)",
    "()",
    "(",
    ")",
    "/*;*/",
    "/* /*;*/ */",
    "-- ;\n",
    "--\r",
    "\\;",
    "\\:",
    "\\restrict k1\n",
    "\\unrestrict k1\n",
    "\\echo a 'b' \\\\ c;\n",
    "\\set x y\n",
    "create function f() ",
    "create or replace procedure p() ",
    "begin atomic ",
    "begin ",
    "atomic ",
    "case ",
    "end ",
    "end;",
    "copy ",
    "from ",
    "stdin",
    "COPY t FROM STDIN;\n1\n\\.\n",
    "copy t from stdin; select 1;\r\n\\\\.\n\\.x\n\\.\r\n",
    "COPY a FROM STDIN;COPY \"b\"(c) FROM stdin csv;\n1\n\\.\né\r\n\\N\t\\N\n\\.\n",
    ";copy t from stdout;\n\\.\n",
    "set x = 1;"
  )

  /** These, and parts of them. */
  private val tokens: Vector[String] = sound ++ Vector(
    "'",
    "''",
    "e'",
    "E'",
    "\"",
    "$",
    "$$",
    "$a$",
    "$a",
    "$é$",
    "\\",
    "\\'",
    "\\.\n",
    "\\.",
    "\n\\.\n",
    "\n\\.\r\n",
    "\\restrict",
    "/*",
    "*/",
    "*",
    "/",
    "--",
    "COPY t FROM STDIN;\n",
    ";COPY t FROM STDIN",
    "1e",
    "1e+",
    "e",
    "\u0000",
    "\u00ff",
    "\ufeff",
    "PGDMP",
    "set standard_conforming_strings=off",
    ";set names 'gbk'",
    "\r",
    "\n"
  )

  private val scripts: Vector[String] = Vector(
    "SELECT E'a' --c\n'b\\';c';SELECT DATE'a\\';SELECT 2;",
    "SELECT $a$;$b$a$;PREPARE p AS SELECT $1+$2;SELECT 1 AS a$$;SELECT 2;",
    "SELECT /*a/*;*/;*/1+/*;*/2--;\n;CREATE RULE r AS ON INSERT TO t DO (SELECT 1;SELECT 2);",
    "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END;SELECT " +
      "2;END;SELECT 3;",
    "COPY t(a) FROM STDIN;\n1\n\\.\nSELECT 1;COPY t FROM STDIN; SELECT 1;\n1\n\\.\n",
    "COPY \"x;y\".\"t\" FROM STDIN WITH (FORMAT csv, NULL ';' /*)*/) -- c\n ;\n\\.x\nx\\.\n\\. " +
      "\n\\\\.\n\\.\nSELECT 1",
    "\\restrict K\r\nCOPY a FROM STDIN;COPY b FROM STDIN;\r\n1\r\n\\.\r\n2\n\\.\n\\unrestrict " +
      "K\r\n",
    "\ufeffSELECT 'ä''b', \"a\"\"b\", U&'d!0061' UESCAPE '!', 1.5e-3, $1;"
  )
