package weir.bench.child.compare

import scala.concurrent.duration.*

import cats.effect.IO
import fs2.Stream

import weir.lab.compare.{Course, Plan}

/** The work of every way on Cats Effect: it produces batches and consumes tasks, by waiting. */
final class CatsWork(plan: Plan, course: Course):
  val parallelism: Int = plan.parallelism
  val capacity: Int = plan.capacity
  val batches: Vector[Int] = plan.batches.toVector

  /** The batches of each of two producers. */
  val halves: Vector[Vector[Int]] = plan.shares(2)

  /** Returns the tasks of a batch, once it has been produced. */
  def produce(batch: Int): IO[Vector[Int]] =
    IO.sleep(plan.produceNanos(batch).nanos) *> IO:
      val tasks = plan.tasks(batch)
      course.produce(tasks.size)
      tasks

  def consume(task: Int): IO[Unit] =
    IO.defer(IO.sleep(plan.consumeNanos(course.begin()).nanos)) *> IO(course.consume(task))

  /** Returns the tasks of `batches`, each batch produced when it is wanted, and a chunk of its own.
    */
  def stream(batches: Vector[Int]): Stream[IO, Int] =
    Stream.emits(batches).flatMap(batch => Stream.evalSeq(produce(batch)))
