package weir.postgres.apply

import java.io.IOException
import java.nio.charset.StandardCharsets.ISO_8859_1
import weir.Task
import weir.io.{Command, Text}
import weir.postgres.input.StandardInput
import weir.postgres.psql.{CommandProblem, ShellProgram}

/** Runs programs by the shell, and asks the user, as psql does. */
private[apply] object Shell:
  /** Runs a program, whose exit code does not matter, as in psql.
    *
    * @param command
    *   the text for the shell, the folder in which it runs, and changes of its environment, each
    *   `NAME=VALUE`, or `NAME` alone to remove one
    * @param print
    *   called with what the program prints; its errors go to the standard error
    */
  def run(command: List[String], print: String => Unit): Task[Unit] =
    Command
      .runAs(inheriting(ShellProgram.builder(command)))
      .use: running =>
        running.output
          .through(Text.utf8Decode)
          .evalMap(part => Task(print(part)))
          .drain
          .andThen(running.exitCode)
          .void
      .adaptError:
        case error: IOException =>
          CommandProblem(s"\\!: failed: ${error.getMessage}", "Is there a shell, /bin/sh?")

  /** Returns what a program prints, each byte a character; a problem if that is more than eight
    * megabytes, since it is held in memory.
    */
  def output(command: List[String]): Task[Either[CommandProblem, String]] =
    Command
      .runAs(inheriting(ShellProgram.readToEnd(command)))
      .use: running =>
        running.output
          .fold(StringBuilder()): (text, bytes) =>
            if text.length + bytes.length > MostOutput then throw tooLong(command.head)
            text.append(String(bytes, ISO_8859_1))
          .map(text => Right(text.result()))
      .recover:
        case problem: CommandProblem => Left(problem)
        case error: IOException =>
          Left(
            CommandProblem(s"${command.head}: ${error.getMessage}", "Is there a shell, /bin/sh?")
          )

  /** Returns the next line of the standard input, each byte a character. */
  val answer: Task[Either[CommandProblem, String]] = Task
    .onPlatformThread(StandardInput.line())
    .map: line =>
      if line ne null then Right(line)
      else
        Left(
          CommandProblem(
            "\\prompt: could not read value for variable",
            "The standard input has ended. Set the variable by -v NAME=VALUE instead."
          )
        )

  private final val MostOutput = 8 << 20

  private def tooLong(text: String) = CommandProblem(
    s"the program in backquotes prints more than $MostOutput bytes: $text",
    "Write its output to a file, and read that with \\i or \\copy."
  )

  private def inheriting(program: ProcessBuilder): ProcessBuilder =
    program.redirectInput(ProcessBuilder.Redirect.INHERIT)
