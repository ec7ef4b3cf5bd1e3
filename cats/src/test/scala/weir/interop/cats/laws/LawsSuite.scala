package weir.interop.cats.laws

import _root_.cats.effect.IO
import org.scalacheck.Test
import org.scalacheck.rng.Seed
import org.scalacheck.util.Pretty
import scala.concurrent.duration.*
import weir.Task

/** One test for each law. The long tier has the full numbers of samples: 1,000 by virtual time, and
  * 100 on the real runtime.
  */
abstract class LawsSuite[F[_]](rig: Rig[F], short: Int, long: Int) extends munit.FunSuite:
  private val isLong = java.lang.Boolean.getBoolean("weir.long")
  private val samples = Integer.getInteger("weir.laws.each", if isLong then long else short)
  private val seed: Long =
    java.lang.Long.getLong("weir.laws.seed", if isLong then System.nanoTime() else 1L)

  override def munitTimeout: Duration = if isLong then 10.minutes else 60.seconds

  for (name, law) <- EffectLaws(rig).all do
    test(name):
      val parameters = Test.Parameters.default
        .withMinSuccessfulTests(samples)
        .withInitialSeed(Seed(seed))
        .withMaxSize(20)
      val result = Test.check(parameters, law)
      if !result.passed then
        fail(s"-Dweir.laws.seed=$seed\n${Pretty.pretty(result, Pretty.Params(2))}")

  test("all the laws are there: 56 of Cats Effect, and those of MonadError"):
    assertEquals(EffectLaws(rig).ofCatsEffect.size, 56)
    assertEquals(EffectLaws(rig).all.map(_._1).distinct.size, EffectLaws(rig).all.size)

class TaskLawsSuite extends LawsSuite[Task](VirtualTask, short = 10, long = 1000)
class IOLawsSuite extends LawsSuite[IO](VirtualIO, short = 3, long = 1000)
class RealTaskLawsSuite extends LawsSuite[Task](RealTask, short = 3, long = 100)
class RealIOLawsSuite extends LawsSuite[IO](RealIO, short = 1, long = 100)
