package weir.lab.compare.way

import scala.concurrent.duration.*

import weir.{Stream, Task}
import weir.lab.compare.{Course, Plan}

/** The work of every way: it produces batches and consumes tasks, by waiting. */
final class Work(plan: Plan, course: Course):
  val parallelism: Int = plan.parallelism
  val capacity: Int = plan.capacity
  val batches: Vector[Int] = plan.batches.toVector

  /** The batches of each of two producers. */
  val halves: Vector[Vector[Int]] = plan.shares(2)

  /** Returns the tasks of a batch, once it has been produced. */
  def produce(batch: Int): Task[Vector[Int]] =
    Task.sleep(plan.produceNanos(batch).nanos).map(_ => produced(batch))

  def consume(task: Int): Task[Unit] =
    Task
      .defer(Task.sleep(plan.consumeNanos(course.begin()).nanos))
      .map(_ => course.consume(task))

  /** As `produce`, in plain code that blocks its thread. */
  def produceBlocking(batch: Int): Vector[Int] =
    Thread.sleep(java.time.Duration.ofNanos(plan.produceNanos(batch)))
    produced(batch)

  def consumeBlocking(task: Int): Unit =
    Thread.sleep(java.time.Duration.ofNanos(plan.consumeNanos(course.begin())))
    course.consume(task)

  /** Returns the tasks of `batches`, each batch produced when it is wanted. */
  def stream(batches: Vector[Int]): Stream[Int] =
    Stream.fromIterable(batches).evalMap(produce).flatMap(Stream.fromIterable)

  private def produced(batch: Int): Vector[Int] =
    val tasks = plan.tasks(batch)
    course.produce(tasks.size)
    tasks
