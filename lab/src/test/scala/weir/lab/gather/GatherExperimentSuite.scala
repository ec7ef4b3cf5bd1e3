package weir.lab.gather

import java.io.{ByteArrayOutputStream, PrintStream}

import weir.lab.{ChildOutput, Experiment}
import weir.lab.ChildOutput.Message
import weir.lab.gather.TaskSystem.Returned

class GatherExperimentSuite extends munit.FunSuite:
  private object Sound extends TaskSystem:
    def name: String = "sound"
    def run(form: Form, size: Int): Option[() => Returned] =
      Option.when(form != Form.SequenceReady)(() => List.fill(size)(1))

  private object Forgetful extends TaskSystem:
    def name: String = "forgetful"
    def run(form: Form, size: Int): Option[() => Returned] =
      Some(() => if form == Form.GatherReady then 0L else size.toLong)

  private def messages(system: String, forms: String): List[Message] =
    val bytes = ByteArrayOutputStream()
    val options = Map(
      "forms" -> forms,
      "size" -> "3",
      "warmUpMillis" -> "1",
      "roundMillis" -> "1",
      "rounds" -> "2"
    )
    GatherExperiment(Seq(Sound, Forgetful))
      .run(system, Experiment.Options(options), ChildOutput(PrintStream(bytes)))
    bytes.toString.linesIterator.flatMap(ChildOutput.parse).toList

  test("a result for each form, by the name of the case"):
    val results = messages("sound", "gather ready,unordered forked").collect:
      case Message.Measured(result) => result
    assertEquals(results.map(_.name), List("gather ready: 3", "unordered forked: 3"))
    assert(results.forall(r => r.value > 0 && r.unit == "ops/s" && r.better == "higher"), results)

  test("a run with a wrong result gives no figure, and does not stop the next form"):
    messages("forgetful", "gather ready,gather forked") match
      case List(Message.Failed(name, system, why), Message.Measured(result)) =>
        assertEquals((name, system), ("gather ready: 3", "forgetful"))
        assert(why.contains("added up to 0, not to 3"), why)
        assertEquals(result.name, "gather forked: 3")
      case other => fail(other.toString)

  test("a form that the system does not have gives no figure"):
    messages("sound", "sequence ready") match
      case List(Message.Failed(_, _, why)) => assert(why.contains("no sequence ready"), why)
      case other => fail(other.toString)

  test("an unknown system or form is refused"):
    intercept[IllegalArgumentException](messages("silent", "gather ready"))
    intercept[IllegalArgumentException](messages("sound", "gather twice"))
