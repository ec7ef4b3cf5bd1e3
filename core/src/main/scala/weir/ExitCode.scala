package weir

/** The number that a process reports to the process that has started it: 0 for success, 1 to 255
  * for anything else.
  */
final case class ExitCode(code: Int):
  require(
    0 <= code && code <= 255,
    s"ExitCode: the code was $code. It must be from 0 to 255, since the operating system keeps " +
      "eight bits of it."
  )

object ExitCode:
  /** 0. */
  val Success: ExitCode = ExitCode(0)

  /** 1. */
  val Error: ExitCode = ExitCode(1)
