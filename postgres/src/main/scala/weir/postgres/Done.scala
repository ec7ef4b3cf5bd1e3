package weir.postgres

/** The result of a statement.
  *
  * @param rows
  *   the number of rows that it has selected, inserted, updated, deleted, copied; 0 for other
  *   statements
  * @param tag
  *   the server's command tag: `INSERT 0 3`; empty if the driver does not give it
  */
final case class Done(rows: Long, tag: String)
