package weir.cli.sql

/** The exit codes of `weir sql`, which are psql's. */
object ExitCode:
  final val done = 0

  /** Bad input, or an error of the program's own. */
  final val own = 1

  /** The server could not be reached, or the connection was lost. */
  final val connection = 2

  /** The script failed, and was to stop at the first error. */
  final val script = 3
