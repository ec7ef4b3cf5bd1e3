package weir.lab.compare

import java.util.SplittableRandom

/** The work of a run: tasks in batches, and the time of each.
  *
  * It is the same for every way and every system, also in another JVM, since it is made from
  * nothing but its parameters.
  *
  * @param produceNanos
  *   for each batch
  * @param consumeNanos
  *   the first time is for the task that is consumed first, and so on. So the order of the tasks
  *   makes no difference to any way
  * @param parallelism
  *   the largest number of tasks that are consumed at a time
  * @param capacity
  *   the number of tasks that fit into a queue or a buffer between producers and consumers
  */
final case class Plan(
    produceNanos: Vector[Long],
    consumeNanos: Vector[Long],
    parallelism: Int,
    capacity: Int
):
  require(
    produceNanos.nonEmpty && consumeNanos.size % produceNanos.size == 0,
    s"Plan: ${consumeNanos.size} tasks do not make ${produceNanos.size} equal batches."
  )

  def batches: Range = produceNanos.indices

  /** Returns the tasks of a batch, by number. */
  def tasks(batch: Int): Vector[Int] =
    val size = consumeNanos.size / produceNanos.size
    Vector.range(batch * size, (batch + 1) * size)

  /** Returns the batches of each of `producers`: the first ones for the first, and so on. */
  def shares(producers: Int): Vector[Vector[Int]] =
    Vector.tabulate(producers): producer =>
      batches.slice(share(producer, producers), share(producer + 1, producers)).toVector

  private def share(producer: Int, producers: Int): Int = batches.size * producer / producers

object Plan:
  val batchCount = 10
  val batchSize = 100

  /** The number of tasks in a batch, as in the source. */
  val usualParallelism = 100

  /** Two batches, as in the source. */
  val usualCapacity: Int = 2 * batchSize

  /** Returns a plan with the delays of `load`, divided by `speed`. `seed` spreads those of the
    * tasks evenly.
    */
  def of(load: Load, seed: Long, speed: Double): Plan =
    val random = SplittableRandom(seed + load.ordinal)
    val least = load.leastConsumeMillis * 1e6
    val most = load.mostConsumeMillis * 1e6
    Plan(
      Vector.fill(batchCount)((load.produceMillis * 1e6 / speed).toLong),
      Vector.fill(batchCount * batchSize)((random.nextDouble(least, most) / speed).toLong),
      usualParallelism,
      usualCapacity
    )
