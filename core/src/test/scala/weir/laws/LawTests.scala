package weir.laws

import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import scala.collection.mutable
import scala.concurrent.duration.*
import weir.{Task, Tier, WeirSuite}

/** The shared parts of the suites of Cats Effect's laws. A law is an equation between two tasks. It
  * holds if both end in the same way, with the same events at the same times, for random tasks and
  * functions in the places of its variables. Each sample is run without a cancel, and with one that
  * comes from outside: before the start, at a random moment while nothing can run, and when nothing
  * more happens.
  *
  * `-Dweir.laws.each=N` sets the number of samples of each law; `-Dweir.laws.seed=N` takes a
  * printed seed.
  */
trait LawTests extends WeirSuite:
  import LawTests.*

  override def limit: FiniteDuration = 30.seconds + (each / 50).seconds

  /** `canceled` is true if the law holds also if the main fiber is cancelled from outside. `unless`
    * is a task that must not end as cancelled by itself; samples in which it does are left out.
    */
  def law(
      name: String,
      canceled: Boolean = true,
      unless: Option[LawWorld => Task[Any]] = None
  )(left: LawWorld => Task[Any])(right: LawWorld => Task[Any]): Unit = check(name)(sample =>
    if unless.exists(run(sample, _, LawCancel.Never, sample.seed)._1.end == "canceled") then None
    else firstDifference(sample, canceled, left, right)
  )

  private def check(name: String)(difference: Sample => Option[String]): Unit = test(name):
    for i <- 0 until samples do
      val sample = Sample(seed + i, Map())
      difference(sample).foreach { what =>
        val (smallest, why) = shrunk(sample, what, difference)
        fail(s"$name\n-Dweir.laws.seed=${seed + i}\n$smallest\n$why")
      }

  private def firstDifference(
      sample: Sample,
      canceled: Boolean,
      left: LawWorld => Task[Any],
      right: LawWorld => Task[Any]
  ): Option[String] =
    def difference(cancel: LawCancel, expected: LawSeen, order: Long): Option[String] =
      val (seen, _) = run(sample, left, cancel, order)
      Option.when(seen != expected)(s"cancelled: $cancel\nleft:  $seen\nright: $expected")
    val (whole, alarms) = run(sample, right, LawCancel.Never, sample.seed)
    difference(LawCancel.Never, whole, sample.seed + 1).orElse {
      if !canceled then None
      else
        val points =
          LawCancel.BeforeStart :: (if whole.ends then Nil else List(LawCancel.AtRest)) :::
            List.tabulate(math.min(alarms, pointsOf(alarms)))(i =>
              LawCancel.After(math.floorMod(sample.number("when") + i, alarms))
            )
        points.iterator
          .map(point =>
            difference(point, run(sample, right, point, sample.seed)._1, sample.seed + 1)
          )
          .collectFirst { case Some(what) => what }
    }

  /** Runs a side, and returns its events and the number of alarms that rang. */
  private def run(
      sample: Sample,
      side: LawWorld => Task[Any],
      cancel: LawCancel,
      order: Long
  ): (LawSeen, Int) =
    val runtime = LawRuntime(order)
    val world = LawWorld(runtime, sample.program, sample.number)
    val seen = runtime.run(Task.defer(side(world)), cancel)
    (seen, runtime.alarms)

object LawTests:
  /** The number of samples of each law, unless the property sets another one. */
  private val eachByDefault = Tier(100, 1000)
  private val each = Integer.getInteger("weir.laws.each", eachByDefault).intValue
  private val givenSeed: java.lang.Long | Null = java.lang.Long.getLong("weir.laws.seed")
  private val seed: Long = Tier.seed("weir.laws.seed")
  private val samples = if givenSeed eq null then each else 1

  /** Returns the number of moments that are tried, of those at which the main fiber waits. */
  private def pointsOf(alarms: Int): Int = if samples == 1 then alarms else 1

  /** The values of the variables of a law: all of it follows from `seed`, but for programs that
    * are `replaced`.
    */
  final case class Sample(seed: Long, replaced: Map[String, LawProgram]):
    private val used = mutable.LinkedHashMap[String, LawProgram]()

    def program(name: String): LawProgram =
      used.getOrElseUpdate(
        name,
        replaced.getOrElse(
          name,
          (if name.startsWith("child") then LawProgram.ofChild else LawProgram.any)
            .pureApply(Gen.Parameters.default, Seed(seed * 31 + name.hashCode))
        )
      )

    def number(name: String): Int =
      (java.util.SplittableRandom(seed * 31 + name.hashCode).nextInt() >>> 1) % 1000

    /** The variables that a side has used. */
    def programs: Map[String, LawProgram] = used.toMap

    override def toString: String =
      used.map((name, program) => s"  $name = $program").mkString("\n")

  /** A sample of smaller programs for which the law does not hold either, and the difference. */
  def shrunk(
      sample: Sample,
      what: String,
      difference: Sample => Option[String]
  ): (Sample, String) =
    var best = (sample, what)
    var goesOn = true
    var tries = 0
    while goesOn && tries < 20_000 do
      val (now, _) = best
      val programs = now.programs
      val found = programs.iterator
        .flatMap((name, program) =>
          program.smaller.iterator.map(less => Sample(now.seed, programs.updated(name, less)))
        )
        .map { candidate =>
          tries += 1
          (candidate, difference(candidate))
        }
        .collectFirst { case (candidate, Some(why)) => (candidate, why) }
      goesOn = found.isDefined
      found.foreach(better => best = better)
    best
