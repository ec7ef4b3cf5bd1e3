package weir.postgres

import weir.Resource
import weir.postgres.jobs.ParallelCopy

/** Allows the data of a COPY to go over several connections, each in its own transaction.
  *
  * @param count
  *   the number of connections, including the script's own
  * @param open
  *   opens one more connection to the same database, as the same user
  * @param chunkBytes
  *   the minimum length of a chunk of data for this number of connections; tests make it small
  */
final case class MoreConnections private[postgres] (
    count: Int,
    open: Resource[ScriptConnection],
    private[postgres] val chunkBytes: Int => Long
):
  require(
    count >= 1,
    s"MoreConnections: the count was $count. It must be at least 1, which is the script's own " +
      "connection."
  )

object MoreConnections:
  def apply(count: Int, open: Resource[ScriptConnection]): MoreConnections =
    new MoreConnections(count, open, ParallelCopy.chunkBytes)
