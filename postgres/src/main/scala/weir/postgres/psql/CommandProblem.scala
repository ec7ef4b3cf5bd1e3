package weir.postgres.psql

/** A command of psql that cannot be carried out. The splitter adds its position.
  *
  * @param endsRun
  *   true if psql could carry it out, or if it is refused for safety; else it is an error in psql,
  *   too, which passes over the command
  */
private[postgres] class CommandProblem(
    val problem: String,
    val hint: String,
    val endsRun: Boolean = false
) extends RuntimeException(problem, null, false, false)
