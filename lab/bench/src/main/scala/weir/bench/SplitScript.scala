package weir.bench

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.TimeUnit
import org.openjdk.jmh.annotations.*
import scala.compiletime.uninitialized
import weir.postgres.split.Splitter

/** Measures the speed of the splitter of SQL scripts, in runs a second of 1,000 kB, which is MB/s.
  * A run returns the number of bytes that were split.
  */
@BenchmarkMode(Array(Mode.Throughput))
@OutputTimeUnit(TimeUnit.SECONDS)
class SplitScript extends Scenario:
  @Param(Array("1000")) var size: Int = uninitialized

  /** The content of the script. */
  @Param(Array("copyShortRows", "copyNulls", "copyLongRows", "inserts", "functions"))
  var content: String = uninitialized

  private var blocks: Array[Array[Byte]] = uninitialized
  private var length = 0L

  def expected: Long = length

  def prepare(): Unit =
    val script = SplitScript.script(content, size * 1000).getBytes(UTF_8)
    length = script.length
    blocks = script.grouped(64 * 1024).toArray

  @Benchmark def weir(): Long =
    val splitter = Splitter("script.sql")
    var end = 0L
    var i = 0
    while i < blocks.length do
      splitter.feed(blocks(i), blocks(i).length)
      end = math.max(end, drained(splitter))
      i += 1
    splitter.finish()
    math.max(end, drained(splitter))

  private def drained(splitter: Splitter): Long =
    var end = 0L
    var piece = splitter.next()
    while piece != null do
      end = piece.endOffset
      piece = splitter.next()
    end

  /** One look at each byte, as the least that a lexer does that reads byte by byte. */
  @Benchmark def loop(): Long =
    var lines, others = 0L
    var b = 0
    while b < blocks.length do
      val block = blocks(b)
      var i = 0
      while i < block.length do
        if block(i) == '\n' || block(i) == '\\' then lines += 1 else others += 1
        i += 1
      b += 1
    lines + others

private object SplitScript:
  /** A script of about `length` bytes, which ends with a piece. */
  def script(content: String, length: Int): String = content match
    case "copyShortRows" => copy(length)(i => s"$i\tname${i % 1000}\t${i % 97}\n")
    case "copyNulls" => copy(length)(i => s"\\N\t\\N\tx${i % 10}\n")
    case "copyLongRows" => copy(length)(i => s"$i\t${"lorem ipsum " * 800}\n")
    case "inserts" =>
      many(length)(i =>
        s"INSERT INTO public.people (id, name, mail, born, score) VALUES ($i, 'Ann''s name', " +
          s"'ann$i@example.org', " +
          s"'1999-12-31', ${i % 97}.5);\n"
      )
    case "functions" =>
      many(length)(i =>
        s"--\n-- Name: f$i; Type: FUNCTION; Schema: public\n--\n\nCREATE FUNCTION public.f$i(a " +
          "integer) RETURNS integer\n" +
          "    LANGUAGE plpgsql\n    AS $_$\nBEGIN\n  -- adds one; no more\n  IF a > 0 THEN " +
          "RETURN $1 + 1; END IF;\n" +
          "  RETURN 0;\nEND;\n$_$;\n\n\n/* the owner */ ALTER FUNCTION public.f(a integer) OWNER " +
          "TO \"some;one\";\n\n"
      )

  private def copy(length: Int)(row: Int => String): String =
    s"COPY public.t (a, b, c) FROM stdin;\n${many(length)(row)}\n\\.\n"

  private def many(length: Int)(part: Int => String): String =
    val all = StringBuilder()
    while all.isEmpty || all.length < length do all ++= part(1_000_000 + all.length)
    all.toString.stripTrailing
