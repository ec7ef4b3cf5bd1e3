package weir.cli

import java.io.{PrintWriter, StringWriter}

class MainSuite extends munit.FunSuite:

  test("--help lists the commands and leaves with 0"):
    val result = weir("--help")
    assertEquals(result.code, 0)
    assert(clue(result.out).contains("  test "))
    assert(clue(result.out).contains("  bench "))

  test("--version is one line that begins with weir"):
    val result = weir("--version")
    assertEquals(result.code, 0)
    assert(clue(result.out).matches("weir [^\n]+\n"))

  test("no command shows the help as an error"):
    val result = weir()
    assertEquals(result.code, 2)
    assert(clue(result.err).startsWith("Usage: weir"))

  test("an unknown command is one line and exit code 2"):
    assertEquals(
      weir("fedes"),
      Result(2, "", "weir: there is no command 'fedes' (see weir --help)\n")
    )

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
