package weir.cli

import java.io.{FileDescriptor, FileOutputStream, PrintWriter}

import picocli.CommandLine
import picocli.CommandLine.{
  Command,
  ExitCode,
  IVersionProvider,
  ParameterException,
  UnmatchedArgumentException
}
import picocli.CommandLine.Model.{CommandSpec, OptionSpec}

import weir.postgres.Secrets
import weir.cli.command.{
  Bench,
  Burst,
  Clients,
  Compare,
  Docs,
  Example,
  Feeds,
  Gather,
  Jobs,
  KafkaBench,
  Load,
  PublishLocal,
  Relay,
  Scale,
  Sleepers,
  Sql,
  Stack,
  Test
}

/** The program `weir`: a table of commands. */
object Main:

  /** A new object for each command, in the order in which `weir --help` lists them.
    *
    * A command is a class in `weir.cli.command` with picocli's `@Command` that is a
    * `Callable[Int]`. It returns the exit code.
    */
  private def commands: Seq[AnyRef] = Seq(
    new Feeds,
    new Sql,
    new Relay,
    new Compare,
    new Clients,
    new Burst,
    new Gather,
    new Sleepers,
    new Scale,
    new Load,
    new Stack,
    new Jobs,
    new KafkaBench,
    new Test,
    new Bench,
    new Example,
    new Docs,
    new PublishLocal
  )

  def main(args: Array[String]): Unit = exit(args.toSeq, commands)

  /** Ends the process after one of `commands` has run. */
  private[cli] def exit(args: Seq[String], commands: => Seq[AnyRef]): Unit =
    val output =
      Output(FileOutputStream(FileDescriptor.out), FileOutputStream(FileDescriptor.err))
    // For all that does not print to what `run` is given, libraries included.
    System.setOut(output.out)
    System.setErr(output.err)
    sys.exit(output.exitCode(run(args, _, _, commands)))

  /** Returns the exit code: the command's own; 1 after one line about a failure; or 2 after one
    * line about an error in `args` (1 for `weir sql`).
    */
  private[cli] def run(
      args: Seq[String],
      out: PrintWriter,
      err: PrintWriter,
      commands: => Seq[AnyRef] = commands
  ): Int =
    val line = new CommandLine(new Weir)
    commands.foreach(line.addSubcommand)
    line.getSubcommands.values.forEach(addHelp)
    line.setOut(out).setErr(err).setParameterExceptionHandler { (problem, _) =>
      err.println(explain(problem))
      problem.getCommandLine.getCommandSpec.exitCodeOnInvalidInput
    }
    line.setExecutionExceptionHandler((error, command, _) =>
      tell(error, command.getCommandSpec, err)
    )
    if args.isEmpty then
      line.usage(err)
      ExitCode.USAGE
    else line.execute(args*)

  /** Adds it to the command and its subcommands. */
  private def addHelp(command: CommandLine): Unit =
    val spec: CommandSpec = command.getCommandSpec
    if spec.findOption("--help") == null then
      val help = OptionSpec.builder("-h", "--help").usageHelp(true)
      spec.addOption(help.description("Show this help message and exit.").build()): Unit
    command.getSubcommands.values.forEach(addHelp)

  /** The exit code for `error`, after a line about it. */
  private def tell(error: Exception, command: CommandSpec, err: PrintWriter): Int =
    val (said, code) = error match
      case bad: BadInput => (bad.getMessage, command.exitCodeOnInvalidInput)
      case lost: ResultFile.NotWritten => (lost.getMessage, ExitCode.SOFTWARE)
      case other =>
        val text = Secrets.mask(s"${command.qualifiedName}: the run failed: $other")
        (text.linesIterator.mkString(" "), ExitCode.SOFTWARE)
    err.println(said)
    code

  private def explain(problem: ParameterException): String =
    val command = problem.getCommandLine.getCommandSpec.qualifiedName
    val what = problem match
      case unmatched: UnmatchedArgumentException
          if command == "weir" && !unmatched.isUnknownOption =>
        s"there is no command '${unmatched.getUnmatched.get(0)}'"
      case _ =>
        // Picocli's message quotes the input, which may be the address of a database.
        val text = Secrets.mask(problem.getMessage)
        text.linesIterator.map(_.trim).mkString(" ").stripSuffix(".")
    s"$command: $what (see $command --help)"

  @Command(
    name = "weir",
    description = Array("Produces and processes tasks concurrently."),
    mixinStandardHelpOptions = true,
    versionProvider = classOf[Version],
    synopsisSubcommandLabel = "COMMAND",
    footer = Array(
      "",
      "weir COMMAND --help describes a command and its options.",
      "If output cannot be written, as on a full disk, the exit code is 1. A reader that has " +
        "gone is no error."
    )
  )
  private class Weir

  private class Version extends IVersionProvider:
    def getVersion: Array[String] =
      val version = Option(classOf[Version].getPackage.getImplementationVersion)
      Array(s"weir ${version.getOrElse("(not from a jar)")}")
