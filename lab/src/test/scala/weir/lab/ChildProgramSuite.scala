package weir.lab

import java.io.{ByteArrayOutputStream, PrintStream}

import weir.lab.ChildOutput.Message

class ChildProgramSuite extends munit.FunSuite:
  private val program = ChildProgram(Map("ping" -> Ping))

  private def run(args: String*): (Int, Vector[Message]) =
    val bytes = ByteArrayOutputStream()
    val code = program.run(args, PrintStream(bytes))
    (code, bytes.toString.linesIterator.flatMap(ChildOutput.parse).toVector)

  test("an experiment's results come out, and the exit code is 0"):
    val (code, messages) = run("ping", "zio")
    assertEquals(code, 0)
    val results = messages.collect { case Message.Measured(result) => result }
    assertEquals(
      results.map(result => (result.name, result.system)),
      Vector(("ping: threads", "zio"))
    )
    assert(results.head.value >= 1)

  test("an experiment that fails says why, and the exit code is 1"):
    val (code, messages) = run("ping", "zio", "fail=no luck")
    assertEquals(code, 1)
    assertEquals(
      messages.last,
      Message.Failed("ping", "zio", "java.lang.IllegalStateException: no luck")
    )

  test("an experiment that is not known, and an option that is none, are failures"):
    for args <- List(Seq("pong", "zio"), Seq("ping", "zio", "loud"), Seq()) do
      val (code, messages) = run(args*)
      assertEquals(code, 1, args)
      assert(messages.last.isInstanceOf[Message.Failed], args)
