package weir.cli.compare

import java.io.PrintWriter
import java.util.SplittableRandom
import java.util.concurrent.LinkedBlockingQueue

import weir.{Queue, Stream, Task}
import weir.cli.{BadInput, Text}
import weir.cli.compare.way.StealingQueues
import weir.cli.lab.{LabOptions, TerminalTable}
import weir.lab.{Result, Systems}

/** Very many short tasks that compute: what handing a task over costs, from one producer to as many
  * consumers as there are processors.
  */
final class HighLoad(load: HighLoad.Settings, out: PrintWriter, err: PrintWriter):
  import HighLoad.*

  private val consumers = load.consumers
  private val workNanos =
    val random = SplittableRandom(load.lab.seed)
    Array.fill(load.tasks)(random.nextInt(load.leastNanos, load.mostNanos + 1))

  private val ways = Vector[(String, Consumed => Task[Unit])](
    "blocking-queue" -> blockingQueue,
    "queue" -> queue,
    "stealing-queues" -> stealing,
    "stream" -> stream
  )

  /** The exit code: 1 if a way has not consumed each task once. */
  def run(): Int =
    err.println(s"${load.tasks} tasks, $consumers consumers")
    val boundMillis = workNanos.iterator.map(_.toLong).sum / 1e6 / consumers
    val rows = ways.flatMap((name, way) => measure(name, way).map(name -> _))
    val table = rows.map { (name, millis) =>
      val overhead = (millis - boundMillis) * 1e6 * consumers / load.tasks
      Vector(
        name,
        Text.decimal(millis / 1000, 3),
        Text.decimal(millis / boundMillis, 3),
        overhead.round.toString
      )
    }
    val bound = Vector("bound", Text.decimal(boundMillis / 1000, 3), "1.000", "0")
    TerminalTable
      .lines(Vector("way", "seconds", "ratio", "ns a task"), bound +: table)
      .foreach(out.println)
    val results =
      rows.map((name, millis) => Result.millis(s"high-load: $name", Systems.weir, millis))
    load.lab.hand("compare", results, rows.size == ways.size)

  /** The best of three runs, after one that only warms up. */
  private def measure(name: String, way: Consumed => Task[Unit]): Option[Double] =
    val runs = Vector.fill(4) {
      val consumed = Consumed()
      val start = System.nanoTime()
      way(consumed).runSync()
      val millis = (System.nanoTime() - start) / 1e6
      val wrong = consumed.times.indexWhere(_ != 1)
      if wrong >= 0 then
        err.println(s"$name: task $wrong was consumed ${consumed.times(wrong)} times")
      Option.when(wrong < 0)(millis)
    }
    Option.when(runs.forall(_.nonEmpty))(runs.flatten.tail.min)

  /** Each task has one consumer, so no two fibers write the same place. */
  private final class Consumed:
    val times = new Array[Byte](load.tasks)

    def apply(task: Int): Unit =
      val end = System.nanoTime() + workNanos(task)
      while System.nanoTime() - end < 0 do Thread.onSpinWait()
      times(task) = (times(task) + 1).toByte

  private def all(consumer: Int => Task[Unit]): Task[Unit] =
    Task.parForeachN(consumers)(0 until consumers)(consumer)

  private def tasks: Stream[Int] = Stream.range(0, load.tasks)

  private def blockingQueue(consumed: Consumed): Task[Unit] = Task.defer {
    val queue = LinkedBlockingQueue[Int](capacity)
    val producer = Task {
      for task <- 0 until load.tasks do queue.put(task)
      for _ <- 0 until consumers do queue.put(-1)
    }
    def consumer: Task[Unit] = Task(queue.take()).flatMap { task =>
      if task < 0 then Task.unit
      else
        consumed(task)
        consumer
    }
    Task.both(producer, all(_ => consumer)).void
  }

  private def queue(consumed: Consumed): Task[Unit] =
    Queue.bounded[Int](capacity).flatMap { queue =>
      def consumer: Task[Unit] = queue.take.flatMap { task =>
        if task < 0 then Task.unit
        else
          consumed(task)
          consumer
      }
      val ends = Task.foreach(0 until consumers)(_ => queue.offer(-1))
      Task.both(tasks.evalForeach(queue.offer).andThen(ends), all(_ => consumer)).void
    }

  private def stealing(consumed: Consumed): Task[Unit] = Task.defer {
    val queues = StealingQueues[Int](consumers, (capacity / consumers).max(1))
    def consumer(own: Int): Task[Unit] = queues.take(own).flatMap {
      case Some(task) =>
        consumed(task)
        consumer(own)
      case None => Task.unit
    }
    Task.both(tasks.evalForeach(queues.offer).andThen(queues.close), all(consumer)).void
  }

  private def stream(consumed: Consumed): Task[Unit] =
    tasks.parEvalMapUnordered(consumers)(task => Task(consumed(task))).drain

object HighLoad:
  /** So many tasks wait between the producer and the consumers, at most. */
  private val capacity = 1024

  final case class Settings(
      tasks: Int,
      leastNanos: Int,
      mostNanos: Int,
      consumers: Int,
      lab: LabOptions.Checked
  )

  private val range = "([1-9][0-9]{0,5})us(?:\\.\\.([1-9][0-9]{0,5})us)?".r

  /** The least and the most nanoseconds that `text` is, such as `1us..10us` or `5us`. */
  def work(text: String): (Int, Int) = text match
    case range(least, most) if Option(most).forall(_.toInt >= least.toInt) =>
      (least.toInt * 1000, Option(most).getOrElse(least).toInt * 1000)
    case _ => throw BadInput("--work", s"'$text' is no range of times.", "Write it like 1us..10us.")
