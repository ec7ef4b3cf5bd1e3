package weir.postgres.apply

import java.io.IOException
import java.nio.file.Path
import weir.Task
import weir.io.{Command, Text}
import weir.postgres.psql.CommandProblem

/** Runs what `\!` names by the shell, as psql does. */
private[apply] object Shell:
  private val notFound = 127 // the exit code of a shell that cannot run the program

  /** @param command
    *   the text for the shell, the folder in which it runs, and changes of its environment, each
    *   `NAME=VALUE`, or `NAME` alone to remove one
    * @param print
    *   called with what the program prints; its errors go to the standard error
    */
  def run(command: List[String], print: String => Unit): Task[Unit] =
    val text :: folder :: changes = command: @unchecked
    Command
      .runAs(builder(text, folder, changes))
      .use: running =>
        running.output
          .through(Text.utf8Decode)
          .evalMap(part => Task(print(part)))
          .drain
          .andThen(running.exitCode)
      .map: code =>
        if code == notFound then
          throw CommandProblem(s"\\!: failed: $text", "The shell has not found the program.")
      .adaptError:
        case error: IOException =>
          CommandProblem(s"\\!: failed: ${error.getMessage}", "Is there a shell, /bin/sh?")

  private def builder(text: String, folder: String, changes: List[String]): ProcessBuilder =
    Program
      .builder(text, Path.of(folder), changes)
      .redirectInput(ProcessBuilder.Redirect.INHERIT)
