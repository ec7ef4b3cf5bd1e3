package weir.postgres

/** What a statement has done.
  *
  * @param rows
  *   how many rows it has selected, inserted, updated, deleted, copied; 0 if that is not what it does
  * @param tag
  *   as the server says it: `INSERT 0 3`; empty if the driver did not tell
  */
final case class Done(rows: Long, tag: String)
