package weir.postgres.queue.tables

/** The isolation level of the queue's own transactions, whatever the database's default is.
  *
  * Each statement is right by itself at READ COMMITTED: a row that has changed since the statement
  * began is read again, and each change of a job names the job's token. At REPEATABLE READ or
  * SERIALIZABLE the server refuses such a statement instead (40001). A busy worker would meet that
  * error again and again, until the leases that it could not renew had ended.
  */
private[queue] object Isolation:
  /** Goes before the first statement of a transaction, and is sent with it. */
  val setting: String = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; "
