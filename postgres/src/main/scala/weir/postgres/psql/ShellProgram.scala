package weir.postgres.psql

import java.nio.file.Path
import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}
import scala.jdk.CollectionConverters.IteratorHasAsScala

/** The programs that a script has the shell run. */
private[postgres] object ShellProgram:
  private val GraceSeconds = 3L
  private val Signals = Map(
    1 -> "Hangup",
    2 -> "Interrupt",
    3 -> "Quit",
    6 -> "Aborted",
    9 -> "Killed",
    11 -> "Segmentation fault",
    13 -> "Broken pipe",
    15 -> "Terminated"
  )

  /** Returns psql's words for the end of a program with this exit code, other than 0. An end by a
    * signal is one of 128 and more, as for a shell.
    */
  def ended(code: Int): String = code match
    case 126 => "command not executable"
    case 127 => "command not found"
    case _ =>
      Signals
        .get(code - 128)
        .fold(s"child process exited with exit code $code"): name =>
          s"child process was terminated by signal ${code - 128}: $name"

  /** Returns the program, with its output as a pipe, and its errors on the standard error.
    *
    * @param command
    *   the text for the shell, the folder in which it runs, and changes of its environment, each
    *   `NAME=VALUE`, or `NAME` alone to remove one
    */
  def builder(command: List[String]): ProcessBuilder = builder(command, "-c", command.head)

  /** Returns the program, as `builder` does. It ends once nothing holds its output, such as a
    * process that the program has started: the JDK closes the output of a process that has ended.
    */
  def readToEnd(command: List[String]): ProcessBuilder =
    builder(command, "-c", ToEnd, "sh", command.head)

  /** Runs `$1`, and `cat` to the end of its output; ends with the exit code of `$1`. */
  private val ToEnd = "exec 4>&1; code=$({ { /bin/sh -c \"$1\" 3>&- 4>&-; echo $? >&3; } | " +
    "cat >&4; } 3>&1); exit $code"

  private def builder(command: List[String], arguments: String*): ProcessBuilder =
    val _ :: folder :: changes = command: @unchecked
    val made = ProcessBuilder(("/bin/sh" +: arguments)*)
      .directory(Path.of(folder).toAbsolutePath.toFile)
      .redirectError(ProcessBuilder.Redirect.INHERIT)
    for change <- changes do
      val (name, value) = change.span(_ != '=')
      if value.isEmpty then made.environment.remove(name): Unit
      else made.environment.put(name, value.drop(1)): Unit
    made

  /** Ends the program, and the processes that it has started: asks them, and forces those that go
    * on after three seconds. **Waits** until then, or until all have ended.
    */
  def kill(process: Process): Unit =
    val all = process.toHandle :: process.descendants.iterator.asScala.toList
    for one <- all do one.destroy(): Unit
    try CompletableFuture.allOf(all.map(_.onExit)*).get(GraceSeconds, TimeUnit.SECONDS): Unit
    catch case _: TimeoutException => for one <- all do one.destroyForcibly(): Unit
    process.waitFor(): Unit
