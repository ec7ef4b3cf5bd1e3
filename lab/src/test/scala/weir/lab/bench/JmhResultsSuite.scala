package weir.lab.bench

import munit.FunSuite

import weir.program.{BadInput, Result}

class JmhResultsSuite extends FunSuite:
  private def result(benchmark: String, params: String, score: Double, unit: String): Result =
    JmhResults
      .of(
        ujson.read(
          s"""[{"benchmark":"$benchmark","params":{$params},
             |"primaryMetric":{"score":$score,"scoreUnit":"$unit"}}]""".stripMargin
        )
      )
      .head

  test("class, size and method are the case and the system, in words"):
    assertEquals(
      result("weir.bench.GatherReady.catsEffect", """"size":"1000"""", 5, "ops/s"),
      Result("gather ready: 1000", "cats-effect", 5, "ops/s", "higher")
    )
    assertEquals(
      result("weir.bench.ce2.GatherReady.monix", """"size":"1000"""", 5, "ops/s").name,
      "gather ready: 1000"
    )

  test("the size comes before the other parameters"):
    val params = """"pipe":"zip","profile":"alone","size":"10""""
    assertEquals(
      result("weir.bench.StreamProtocol.push", params, 5, "us/op").name,
      "stream protocol: 10, zip, alone"
    )

  test("times are in ms, and throughput in ops/s"):
    assertEquals(result("a.B.weir", "", 1500, "us/op").value, 1.5)
    assertEquals(result("a.B.weir", "", 2, "s/op").value, 2000.0)
    assertEquals(result("a.B.weir", "", 3, "ops/ms").value, 3000.0)

  test("what is asked of JMH is told from what is measured"):
    import JmhArguments.Question
    assertEquals(JmhArguments.parse(Seq("-l")).question, Some(Question.OfEachModule))
    assertEquals(JmhArguments.parse(Seq("-h")).question, Some(Question.OfJmh))
    assertEquals(JmhArguments.parse(Seq("-f", "1", ".*Fork.*")).question, None)

  test("JMH's own result file is taken out, and must be JSON"):
    val parsed = JmhArguments.parse(Seq("-f", "1", "-rf", "json", "-rff", "a.json", "Fork"))
    assertEquals(parsed.forJmh, Vector("-f", "1", "Fork"))
    assertEquals(parsed.results.map(_.toString), Some("a.json"))
    intercept[BadInput](JmhArguments.parse(Seq("-rf", "csv"))): Unit
    intercept[BadInput](JmhArguments.parse(Seq("-rff"))): Unit
