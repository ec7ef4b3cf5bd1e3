package weir.postgres

import weir.Resource
import weir.postgres.jobs.ParallelCopy

/** That the data of a COPY may go over several connections, each in a transaction of its own.
  *
  * @param count
  *   how many, the script's own among them
  * @param open
  *   one more connection to the same database, as the same user
  * @param chunkBytes
  *   how long a chunk is at least of data for so many connections: tests have small ones
  */
final case class MoreConnections private[postgres] (
    count: Int,
    open: Resource[ScriptConnection],
    private[postgres] val chunkBytes: Int => Long
):
  require(
    count >= 1,
    s"MoreConnections: the count was $count. It must be at least 1, which is the script's own connection."
  )

object MoreConnections:
  def apply(count: Int, open: Resource[ScriptConnection]): MoreConnections =
    new MoreConnections(count, open, ParallelCopy.chunkBytes)
