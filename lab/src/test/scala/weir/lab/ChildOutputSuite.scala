package weir.lab

import java.io.{ByteArrayOutputStream, PrintStream}

import weir.lab.ChildOutput.Message
import weir.program.Result

class ChildOutputSuite extends munit.FunSuite:
  private def sent(send: ChildOutput => Unit): Vector[Option[Message]] =
    val bytes = ByteArrayOutputStream()
    send(ChildOutput(PrintStream(bytes)))
    bytes.toString.linesIterator.map(ChildOutput.parse).toVector

  test("what is sent is what is read, a line each"):
    val result = Result("gather forked: 1000", "weir", 1234.5, "ops/s", Result.higher)
    val event = ujson.Obj("produced" -> 3, "text" -> "two\nlines \"quoted\"")
    val messages = sent: out =>
      out.result(result)
      out.event(event)
      out.failed("gather: 10", "zio", "out of\nmemory")
    assertEquals(
      messages,
      Vector(
        Some(Message.Measured(result)),
        Some(Message.Event(event)),
        Some(Message.Failed("gather: 10", "zio", "out of\nmemory"))
      )
    )

  test("a value that is no finite number is not a message"):
    val json = """{"result":{"case":"a","system":"b","value":"x","unit":"ms","better":"lower"}}"""
    assertEquals(ChildOutput.parse(json), None)

  test("what libraries print is no message"):
    for line <- List("", "hello", "{", "{}", "[1]", """{"level":"info"}""", """{"result":1}""") do
      assertEquals(ChildOutput.parse(line), None, line)
