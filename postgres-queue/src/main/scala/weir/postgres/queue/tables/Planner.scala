package weir.postgres.queue.tables

/** Keeps the server from a plan that is right for an empty queue and is kept when it is full.
  *
  * A prepared statement is planned once, often while the queue is empty; Postgres then reads the
  * whole table, and goes on doing so with a million jobs in it until the next `ANALYZE`. All
  * statements of a queue find their rows by an index, so the other ways are turned off for the
  * transaction.
  */
private[queue] object Planner:
  /** Goes before the first statement of a transaction, and is sent with it. */
  val settings: String =
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; " +
      "SET LOCAL enable_mergejoin = off; SET LOCAL enable_sort = off; "
