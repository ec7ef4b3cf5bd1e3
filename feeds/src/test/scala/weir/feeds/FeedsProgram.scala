package weir.feeds

import java.io.{ByteArrayInputStream, PrintWriter, StringWriter}
import java.nio.charset.StandardCharsets.UTF_8

import weir.program.Main

/** `weir feeds` as a user runs it, in this process. */
object FeedsProgram:
  final case class Result(code: Int, out: String, err: String):
    def lines: Vector[String] = out.linesIterator.toVector

  def run(args: String*): Result =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("feeds" +: args, PrintWriter(out, true), PrintWriter(err, true))
    Result(code, out.toString, err.toString)

  /** With `text` as its standard input. */
  def reading(text: String)(args: String*): Result =
    val before = System.in
    System.setIn(ByteArrayInputStream(text.getBytes(UTF_8)))
    try run(args*)
    finally System.setIn(before)
