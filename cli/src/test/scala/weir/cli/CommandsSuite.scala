package weir.cli

import java.io.{PrintWriter, StringWriter}

import weir.program.Main

/** The commands that the launcher runs itself are in the program for their help alone. */
class CommandsSuite extends munit.FunSuite:

  test("--help lists the commands and leaves with 0"):
    val result = weir("--help")
    assertEquals(result.code, 0)
    assert(clue(result.out).contains("  test "))
    assert(clue(result.out).contains("  relay "))

  test("an unknown option is one line that names it, and exit code 2"):
    assertEquals(
      weir("test", "--fast"),
      Result(2, "", "weir test: Unknown option: '--fast' (see weir test --help)\n")
    )

  test("every command has --help without asking for it"):
    val result = weir("test", "--help")
    assertEquals(result.code, 0)
    assert(clue(result.out).startsWith("Usage: weir test [MODULE...]"))

  private case class Result(code: Int, out: String, err: String)

  private def weir(args: String*): Result =
    val (out, err) = (new StringWriter, new StringWriter)
    val code = Main.run(args, new PrintWriter(out, true), new PrintWriter(err, true))
    Result(code, out.toString, err.toString)
