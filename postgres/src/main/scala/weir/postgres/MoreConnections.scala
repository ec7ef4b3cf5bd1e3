package weir.postgres

import weir.Resource

/** That the data of a COPY may go over several connections, each in a transaction of its own.
  *
  * @param count
  *   how many, the script's own among them
  * @param open
  *   one more connection to the same database, as the same user
  */
final case class MoreConnections(count: Int, open: Resource[ScriptConnection]):
  require(
    count >= 1,
    s"MoreConnections: the count was $count. It must be at least 1, which is the script's own connection."
  )
