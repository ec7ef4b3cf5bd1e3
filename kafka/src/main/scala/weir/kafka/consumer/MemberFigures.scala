package weir.kafka.consumer

import org.apache.kafka.common.TopicPartition
import scala.concurrent.duration.FiniteDuration
import weir.kafka.PartitionProgress
import weir.metrics.Metric.{Kind, Point}
import weir.metrics.{Metric, Metrics}
import weir.{Resource, Task}

/** The figures of a member of a group, as its progress was when it was last asked for. */
private[kafka] final class MemberFigures(
    group: String,
    progress: Task[Map[TopicPartition, PartitionProgress]],
    every: FiniteDuration
):
  @volatile private var latest = Vector.empty[Metric]

  def watched: Resource[Unit] =
    for
      _ <- Resource.make(Task.delay(Metrics.register(() => latest)))(registration =>
        Task.delay(registration.close())
      )
      _ <- ask.andThen(Task.sleep(every)).forever.background
    yield ()

  private def ask: Task[Unit] = progress.attempt.map { answer =>
    latest = answer.fold(_ => Vector.empty, figures)
  }

  private def figures(all: Map[TopicPartition, PartitionProgress]): Vector[Metric] =
    val partitions = all.toVector.sortBy((at, _) => (at.topic, at.partition))
    def figure(name: String, description: String)(
        value: PartitionProgress => Option[Long]
    ): Metric =
      val points =
        for
          (at, progress) <- partitions
          count <- value(progress)
        yield Point(
          Vector("name" -> group, "topic" -> at.topic, "partition" -> at.partition.toString),
          count.toDouble
        )
      Metric(name, Kind.Gauge, "{record}", description, points)
    Vector(
      figure("weir.kafka.lag", "Records up to the end of the partition that are not done.")(_.lag),
      figure("weir.kafka.in_flight", "Records of the partition that are being worked on.")(p =>
        Some(p.inFlight)
      ),
      figure("weir.kafka.uncommitted", "Records of the partition that are done, in no commit.")(p =>
        Some(p.uncommitted)
      )
    ).filter(_.points.nonEmpty)
