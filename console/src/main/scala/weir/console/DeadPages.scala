package weir.console

import java.time.Instant
import scala.util.control.NonFatal
import weir.console.Json.json
import weir.metrics.DeadJobs

/** Answers questions about the dead jobs of queues, and puts them back or deletes them. Each
  * question is one to the database of the queue.
  */
private[console] object DeadPages:
  private inline val rows = 200

  /** Returns the names of the queues. */
  def queues: Json = DeadJobs.registered.map(_.name).distinct.map(_.json).json

  def list(queue: String): Reply = of(queue) { dead =>
    val jobs = dead.list(rows + 1)
    Reply.json(
      Json.fields(
        "queue" -> queue.json,
        "hasMore" -> (jobs.size > rows).json,
        "jobs" -> jobs.take(rows).map(row).json
      )
    )
  }

  def revive(queue: String, id: String): Reply =
    change(queue, id, "put back")((dead, ids) => dead.revive(ids))

  def delete(queue: String, id: String): Reply =
    change(queue, id, "deleted")((dead, ids) => dead.delete(ids))

  private def change(queue: String, id: String, done: String)(
      change: (DeadJobs, Vector[Long]) => Int
  ): Reply = of(queue) { dead =>
    id.toLongOption match
      case None => Reply.text(400, "The number of the job is missing.")
      case Some(number) if change(dead, Vector(number)) == 1 =>
        Reply.text(200, s"Job $number is $done.")
      case Some(number) =>
        Reply.text(409, s"Job $number is not $done: it is gone, or a job in the queue has its key.")
  }

  private def of(queue: String)(answer: DeadJobs => Reply): Reply =
    DeadJobs.registered.find(_.name == queue) match
      case None => Reply.text(404, "There is no such queue any more.")
      case Some(dead) =>
        try answer(dead)
        catch case NonFatal(error) => Reply.text(502, s"The queue's database failed: $error")

  private def row(job: DeadJobs.Job): Json =
    Json.fields(
      "id" -> job.id.toString.json,
      "attempts" -> job.attempts.toDouble.json,
      "died" -> shown(job.diedAt).json,
      "key" -> job.key.getOrElse("").json,
      "error" -> job.error.take(2000).json
    )

  private def shown(time: Instant): String = time.toString.replaceFirst("[.][0-9]+Z$", "Z")
