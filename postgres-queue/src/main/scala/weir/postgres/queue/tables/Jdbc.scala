package weir.postgres.queue.tables

import java.sql.{Connection, PreparedStatement, ResultSet}

/** Statements over JDBC, closed when they have run. */
private[queue] object Jdbc:
  def execute(connection: Connection, sql: String): Unit =
    val statement = connection.createStatement()
    try statement.execute(sql): Unit
    finally statement.close()

  /** Returns the rows of the result. `sql` may begin with statements that have none, as [[Planner]]
    * does: all are sent together.
    */
  def query[R](connection: Connection, sql: String)(bind: PreparedStatement => Unit)(
      row: ResultSet => R
  ): Vector[R] =
    val statement = connection.prepareStatement(sql)
    try
      bind(statement)
      var hasRows = statement.execute()
      while !hasRows && statement.getUpdateCount >= 0 do hasRows = statement.getMoreResults
      val rows = Vector.newBuilder[R]
      if hasRows then
        val results = statement.getResultSet
        while results.next() do rows += row(results)
      rows.result()
    finally statement.close()

  /** Runs `body` in a transaction of its own, and rolls back if it throws.
    *
    * @param committing
    *   is called before the server is asked to commit: from then on the transaction may be
    *   committed although this fails
    */
  def transaction[R](connection: Connection, committing: () => Unit = () => ())(body: => R): R =
    committed(connection) {
      val result = body
      committing()
      connection.commit()
      result
    }

  /** Runs `body` in a transaction of its own that it commits, and rolls back if it throws. */
  def committed[R](connection: Connection)(body: => R): R =
    connection.setAutoCommit(false)
    val result =
      try body
      catch
        case error: Throwable =>
          try
            connection.rollback()
            connection.setAutoCommit(true)
          catch
            case second: Throwable =>
              if second ne error then error.addSuppressed(second)
          throw error
    connection.setAutoCommit(true)
    result
