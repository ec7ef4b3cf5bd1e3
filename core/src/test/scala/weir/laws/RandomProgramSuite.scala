package weir.laws

import java.io.{OutputStream, PrintStream}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import scala.concurrent.duration.*
import weir.{Tier, WeirRuntime, WeirSuite}

/** Random programs have the same effects as the reference, with a cancel at every point.
  * `-Dweir.laws.seed=N` takes a seed, `-Dweir.laws.programs=N` sets the number of programs.
  */
class RandomProgramSuite extends WeirSuite:

  private val programs = Integer.getInteger("weir.laws.programs", Tier(240, 1500)).intValue
  private val seed = Tier.seed("weir.laws.seed")

  override def limit: FiniteDuration = (60 + programs / 4).seconds

  // Without the reports of finalizers that fail, which are in the programs.
  private val err = System.err
  override def beforeAll(): Unit = System.setErr(PrintStream(OutputStream.nullOutputStream()))
  override def afterAll(): Unit = System.setErr(err)

  /** Returns the fault of a run of the program; null if there is none. */
  private def difference(program: Program, cancelAt: CancelAt, runtime: WeirRuntime): String |
    Null =
    val expected = Reference(cancelAt).run(program)
    val machine = Machine(cancelAt, runtime)
    val seen = machine.run(program)
    val acquired = seen.events.values.flatten.count(_.contains("acquired"))
    val released = seen.events.values.flatten.count(_.contains("release "))
    if !machine.wrong.isEmpty then s"${machine.wrong}"
    else if acquired != released then s"$acquired acquired, $released released: ${seen.events}"
    else if seen != expected then s"seen     $seen\nexpected $expected"
    else null

  private def firstDifference(program: Program, runtime: WeirRuntime): Option[(CancelAt, String)] =
    Reference
      .points(program, masked = false)
      .iterator
      .map(point => (point, difference(program, point, runtime)))
      .collectFirst { case (point, what: String) => (point, what) }

  /** Returns the smallest part of `program` that is still wrong, and its fault. */
  private def smallest(program: Program, at: CancelAt, what: String, runtime: WeirRuntime): String =
    program.children.iterator
      .flatMap(part => firstDifference(part, runtime).map((part, _)))
      .nextOption() match
      case Some((part, (at, what))) => smallest(part, at, what, runtime)
      case None => s"$program\n$at\n$what"

  for carriers <- List(1, 2, 4) do
    test(
      s"with $carriers carriers a random program, cancelled at every point, does as the reference"
    ):
      val runtime = WeirRuntime.make(carriers, 4)
      var runs = 0
      for i <- 0 until programs / 3 do
        val made = Program.any.pureApply(Gen.Parameters.default, Seed(seed + i))
        for point <- Reference.points(made, masked = false) do
          runs += 1
          val what = difference(made, point, runtime)
          if what ne null then
            fail(s"-Dweir.laws.seed=${seed + i}\n${smallest(made, point, what, runtime)}")
      println(
        s"measured: ${programs / 3} programs, $runs runs, with $carriers carriers, seed $seed"
      )
      settles(runtime)
