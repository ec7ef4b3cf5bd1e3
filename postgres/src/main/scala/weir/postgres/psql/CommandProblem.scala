package weir.postgres.psql

/** A command of psql that cannot be carried out. The splitter adds its position. */
private[postgres] final class CommandProblem(val problem: String, val hint: String)
    extends RuntimeException(problem, null, false, false)
