package weir.laws

import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** The assumptions of the laws about the programs that they are run with. */
class LawProgramSuite extends LawTests:

  law("a program does the same whatever the order of its fibers")(_.fa)(_.fa)

  private def programs = (1 to 4_000).map { i =>
    LawProgram.any.pureApply(Gen.Parameters.default, Seed(i))
  }

  private def run(program: LawProgram): LawSeen =
    val runtime = LawRuntime(7)
    runtime.run(LawWorld(runtime, _ => program, _ => 0).fa, LawCancel.Never)

  test("programs end in each of the four ways, and do something before"):
    val seen = programs.map(run)
    def percent(condition: LawSeen => Boolean) = seen.count(condition) * 100 / seen.size
    val ways = List(
      "canceled" -> percent(_.end == "canceled"),
      "failed" -> percent(_.end.startsWith("failed")),
      "never ends" -> percent(!_.ends),
      "a value" -> percent(_.end.toIntOption.isDefined),
      "events" -> percent(_.events.nonEmpty),
      "three events" -> percent(_.events.size >= 3)
    )
    println(s"measured: percent of programs: ${ways.mkString(", ")}")
    for (way, count) <- ways do assert(count >= 8, s"$way: $count percent of $ways")

  test("programs are made of every instruction"):
    def names(program: LawProgram): List[String] =
      program.productPrefix :: program.children.flatMap(names)
    val counts = programs.flatMap(names).groupMapReduce(identity)(_ => 1)(_ + _)
    assertEquals(LawProgram.kinds.filter(counts.getOrElse(_, 0) < 20), Nil, s"$counts")
