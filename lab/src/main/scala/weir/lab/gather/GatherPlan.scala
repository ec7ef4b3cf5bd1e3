package weir.lab.gather

import scala.concurrent.duration.*

import weir.lab.RivalJvm
import weir.program.Systems

/** The plan of measurements: the JVMs, in their order. */
final case class GatherPlan(steps: Vector[GatherPlan.Step]):
  /** Returns the time that it takes if every JVM starts at once. */
  def expected: FiniteDuration = steps.map(_.expected).foldLeft(Duration.Zero)(_ + _)

object GatherPlan:
  /** The times of the measurement of one form: the warm-up, then the rounds of which the median
    * counts.
    */
  final case class Timing(warmUp: FiniteDuration, round: FiniteDuration, rounds: Int):
    def total: FiniteDuration = warmUp + round * rounds

  /** A JVM: some forms at one size on one system, in turns. */
  final case class Step(system: String, forms: Vector[Form], size: Int, timing: Timing):
    def expected: FiniteDuration = start + timing.total * forms.size

    def jvm: RivalJvm = RivalJvm(
      "gather",
      system,
      Seq(
        "forms" -> forms.map(_.label).mkString(","),
        "size" -> size,
        "warmUpMillis" -> timing.warmUp.toMillis,
        "roundMillis" -> timing.round.toMillis,
        "rounds" -> timing.rounds
      ),
      jvmFlags,
      deadline = expected * 3 + 1.minute
    )

    /** `gather forked: 1000`, or `6 forms: 1000`. */
    def label: String =
      if forms.size == 1 then forms.head.caseOf(size) else s"${forms.size} forms: $size"

  /** All systems that have a form. */
  val systems: Vector[String] =
    Form.values.flatMap(_.systems).distinct.sortBy(Systems.order).toVector

  /** One size, one JVM for each system: what fits into a minute. */
  def quick(systems: Seq[String]): GatherPlan =
    val timing = Timing(warmUp = 900.millis, round = 50.millis, rounds = 5)
    GatherPlan(
      systems
        .map(system => Step(system, Form.values.toVector.filter(_.systems(system)), 1000, timing))
        .toVector
    )

  /** Plans all sizes, with a JVM for each figure, so that the JIT's profile of one form does not
    * change the next one. The systems take turns, so that a disturbance affects all of them.
    */
  def full(systems: Seq[String]): GatherPlan =
    val timing = Timing(warmUp = 2.seconds, round = 120.millis, rounds = 5)
    GatherPlan(
      for
        (size, jvms) <- sizes
        _ <- 1 to jvms
        form <- Form.values.toVector
        system <- systems
        if form.systems(system)
      yield Step(system, Vector(form), size, timing)
    )

  /** The size of the published benchmark comes first, and most often. */
  private val sizes = Vector(1000 -> 5, 10 -> 1, 100_000 -> 1)

  /** The flags with which the JMH suite runs. */
  private val jvmFlags = Seq("-Xmx4g", "-XX:+UseG1GC")

  /** The time that a JVM takes to start and to end. */
  private val start = 400.millis
