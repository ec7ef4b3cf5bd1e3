package weir.feeds.store

import java.sql.{Connection, PreparedStatement, ResultSet, Types}

/** Plain JDBC with the closing done: a statement lives no longer than its call. */
object Sql:
  /** Runs a statement that has neither parameters nor a result. */
  def execute(connection: Connection, sql: String): Unit =
    val statement = connection.createStatement()
    try
      val _ = statement.execute(sql)
    finally statement.close()

  /** Returns the number of rows that the statement changed. */
  def update(connection: Connection, sql: String)(values: Any*): Int =
    val statement = connection.prepareStatement(sql)
    try
      bind(statement, values)
      statement.executeUpdate()
    finally statement.close()

  /** Returns the number of rows changed by the statement, run once for each of `rows`. */
  def updateAll(connection: Connection, sql: String)(rows: Iterable[Seq[Any]]): Int =
    val statement = connection.prepareStatement(sql)
    try
      rows.foreach: values =>
        bind(statement, values)
        statement.addBatch()
      statement.executeBatch().sum
    finally statement.close()

  /** Returns the rows of the result, read whole. */
  def query[A](connection: Connection, sql: String)(values: Any*)(row: ResultSet => A): Vector[A] =
    val statement = connection.prepareStatement(sql)
    try
      bind(statement, values)
      val results = statement.executeQuery()
      val rows = Vector.newBuilder[A]
      while results.next() do rows += row(results)
      rows.result()
    finally statement.close()

  /** A column that may be null. */
  def optional(results: ResultSet, column: Int): Option[String] = Option(results.getString(column))

  private def bind(statement: PreparedStatement, values: Iterable[Any]): Unit =
    var index = 0
    values.foreach: value =>
      index += 1
      value match
        case Some(inner) => set(statement, index, inner)
        case None => statement.setNull(index, Types.NULL)
        case plain => set(statement, index, plain)

  private def set(statement: PreparedStatement, index: Int, value: Any): Unit =
    value match
      case text: String => statement.setString(index, text)
      case number: Long => statement.setLong(index, number)
      case number: Int => statement.setInt(index, number)
      case other => throw IllegalArgumentException(s"Sql: no column type for ${other.getClass}")
