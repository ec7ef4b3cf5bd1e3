package weir.lab.compare

import java.util.SplittableRandom

/** Very many short tasks that compute, from one producer to a few consumers.
  *
  * A task reads the clock until its time is over. That takes a little longer than its time, and two
  * processors do more in this time than their tasks: so the time without any hand-over must be
  * measured too.
  *
  * @param count
  *   the tasks are the numbers below it
  */
final class ShortTasks(val count: Int, times: WorkTimes, val consumers: Int, seed: Long):
  private val workNanos =
    val random = SplittableRandom(seed)
    Array.fill(count)(times.next(random))

  /** Returns the time of all tasks, divided by the number of consumers. */
  def idealMillis: Double = workNanos.iterator.map(_.toLong).sum / 1e6 / consumers

  /** Counts how often each task was consumed in one run. */
  final class Run:
    // Consumers that wrote to the same line would take it from each other with every task.
    private val stripes = Array.fill(ShortTasks.stripes)(new Array[Byte](count))

    /** Does the task's work. Each task has one consumer, so no two threads write the same place. */
    def consume(task: Int): Unit =
      val end = System.nanoTime() + workNanos(task)
      while System.nanoTime() - end < 0 do Thread.onSpinWait()
      val times = stripes(Thread.currentThread().threadId().toInt & (ShortTasks.stripes - 1))
      times(task) = (times(task) + 1).toByte

    /** A task that was not consumed once. */
    def mistake: Option[String] =
      (0 until count).iterator
        .map(task => task -> stripes.iterator.map(_(task).toInt).sum)
        .collectFirst {
          case (task, times) if times != 1 =>
            s"task $task was consumed $times times"
        }

  /** Returns the milliseconds of the best of three runs of `way`, after one that only warms up.
    * **Fails** if a run has not consumed each task once.
    */
  def bestMillis(way: Run => Unit): Double =
    val runs = Vector.fill(ShortTasks.runs + 1) {
      val run = Run()
      val start = System.nanoTime()
      way(run)
      val millis = (System.nanoTime() - start) / 1e6
      run.mistake.foreach(mistake => throw IllegalStateException(mistake))
      millis
    }
    runs.tail.min

object ShortTasks:
  /** The largest number of tasks that wait between the producer and the consumers. */
  val capacity = 1024

  private val runs = 3

  /** A power of two. */
  private val stripes = 16
