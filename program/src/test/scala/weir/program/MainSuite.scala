package weir.program

import java.io.{PrintWriter, StringWriter}
import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*
import scala.util.Using

import weir.rules.Checkout

class MainSuite extends munit.FunSuite:

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

  test("a command whose module is not there is an unknown command"):
    assertEquals(
      weir("sql", "--dry-run"),
      Result(2, "", "weir: there is no command 'sql' (see weir --help)\n")
    )

  test("each command of the table is a class of one module"):
    val modules =
      Using.resource(Files.list(Checkout.root))(
        _.iterator.asScala.filter(Files.isDirectory(_)).toList
      )
    for (name, of) <- Main.table do
      val source = Path.of("src", "main", "scala").resolve(s"${of.replace('.', '/')}.scala")
      val files = modules.map(_.resolve(source)).filter(Files.isRegularFile(_))
      assertEquals(files.size, 1, s"$name: $of")
      assert(Files.readString(files.head).contains(s"""  name = "$name","""), files.head)

  test("the launcher starts each command with the jars of its module"):
    val launcher = Files.readString(Checkout.root.resolve("weir"))
    val rooms =
      launcher.linesIterator.dropWhile(_ != "rooms() {").takeWhile(_ != "}").mkString("\n")
    val started = "(?m)^    ([a-z |-]+)\\) echo ([a-z]+) ;;$".r
      .findAllMatchIn(rooms)
      .flatMap(line => line.group(1).split('|').map(_.trim -> line.group(2)))
      .toMap
    assertEquals(started, Main.table.map((name, of) => name -> of.split('.')(1)).toMap)

  private case class Result(code: Int, out: String, err: String)

  private def weir(args: String*): Result =
    val (out, err) = (new StringWriter, new StringWriter)
    val code = Main.run(args, new PrintWriter(out, true), new PrintWriter(err, true))
    Result(code, out.toString, err.toString)
