package weir.postgres.queue

import scala.concurrent.duration.*

import weir.{Resource, Task}
import weir.metrics.{DeadJobs, Metric, Metrics}
import weir.metrics.Metric.{Kind, Point}

/** The figures of a queue, as they were at the last count, and its dead jobs. */
private[queue] final class QueueFigures(
    queue: PgQueue[?],
    queueName: String,
    every: FiniteDuration
):
  @volatile private var latest = Vector.empty[Metric]

  def watched: Resource[Unit] =
    for
      _ <- registered(Metrics.register(() => latest))
      _ <- registered(DeadJobs.register(dead))
      _ <- count.andThen(Task.sleep(every)).forever.background
    yield ()

  private def registered(register: => AutoCloseable): Resource[AutoCloseable] =
    Resource.make(Task.delay(register))(registration => Task.delay(registration.close()))

  private def count: Task[Unit] =
    queue.counts.flatMap(counts => queue.oldest.map(figures(counts, _))).attempt.map { read =>
      latest = read.getOrElse(Vector.empty)
    }

  private def figures(counts: PgQueue.Counts, oldest: Option[FiniteDuration]): Vector[Metric] =
    val jobs = Vector(
      "ready" -> counts.ready,
      "leased" -> counts.leased,
      "delayed" -> counts.delayed,
      "dead" -> counts.dead
    )
    val name = "name" -> queueName
    Vector(
      Metric(
        "weir.pg_queue.jobs",
        Kind.Gauge,
        "{job}",
        "Jobs of the queue, by state.",
        jobs.map((state, count) => Point(Vector(name, "state" -> state), count.toDouble))
      ),
      Metric(
        "weir.pg_queue.oldest",
        Kind.Gauge,
        "s",
        "Time for which the oldest ready job of the queue has been due; 0 if there is none.",
        Vector(Point(Vector(name), oldest.fold(0.0)(_.toNanos / 1e9)))
      )
    )

  private object dead extends DeadJobs:
    def name: String = queueName

    def list(limit: Int): Vector[DeadJobs.Job] =
      queue
        .dead(limit)
        .runSync()
        .map(job => DeadJobs.Job(job.id, job.attempts, job.diedAt, job.key, job.error))

    def revive(ids: Vector[Long]): Int = queue.revive(ids).runSync()
    def delete(ids: Vector[Long]): Int = queue.deleteDead(ids).runSync()
