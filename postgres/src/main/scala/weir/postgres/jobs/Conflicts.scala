package weir.postgres.jobs

import java.util.concurrent.atomic.AtomicLong
import scala.concurrent.duration.*
import weir.Task
import weir.postgres.ServerError

/** Detects that one connection of a COPY waits for a lock that another one of them holds until it
  * commits.
  *
  * None of them commits before all have ended their COPY, so such a wait never ends; and since the
  * holder may itself wait for the client, the server does not see a deadlock. The cause is two rows
  * with one key, a trigger that counts in a row, or the like. The server's locks are queried, over
  * a separate connection, only when no data has moved for a while.
  */
private[postgres] final class Conflicts(
    pids: Vector[Int],
    written: AtomicLong,
    jobs: Jobs,
    patience: FiniteDuration
):
  /** Never returns; **fails** once it has found such a wait. */
  def watch: Task[Nothing] = Task.direct {
    var last = -1L
    var wait = patience
    while true do
      Task.sleep(wait).await
      val now = written.get
      if now != last then wait = patience
      else
        // A server that refuses further connections may still end the COPY.
        val found = jobs.beside(_.rows(query)).handleError(_ => Vector.empty).await
        found.headOption.foreach(row => throw conflict(row))
        wait = (wait * 2).min(Conflicts.longest)
      last = now
    throw IllegalStateException()
  }

  // Locks that are released before the commit, such as for extending a table, are no conflict.
  private def query =
    s"""SELECT l.pid, l.locktype FROM pg_catalog.pg_locks l
       |WHERE NOT l.granted AND l.pid IN (${pids.mkString(", ")})
       |AND l.locktype IN ('transactionid', 'tuple', 'relation', 'advisory')
       |AND pg_catalog.pg_blocking_pids(l.pid) && ARRAY[${pids.mkString(", ")}]""".stripMargin

  private def conflict(found: Vector[String]) = ServerError(
    severity = "ERROR",
    sqlState = "40P01",
    problem = "rows of this COPY that went over different connections need the same lock",
    detail = Some(
      s"Server process ${found.head} waits for a ${found(1)} lock that another connection of " +
        "--jobs holds until its " +
        "commit. Two rows have the same key, or a trigger changes one row for many."
    ),
    hint = Some("Nothing of this COPY has been applied. Apply the script with --jobs 1."),
    context = None,
    character = None,
    copyRow = None,
    column = None,
    connectionLost = false,
    cause = null
  )

private[postgres] object Conflicts:
  /** The end of a large COPY may take long without any conflict, and each query opens a connection.
    */
  private val longest = 8.seconds
