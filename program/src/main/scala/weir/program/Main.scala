package weir.program

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

/** The program `weir`: a table of commands. */
object Main:

  /** The commands and their classes, in the order in which `weir --help` lists them.
    *
    * The class has picocli's `@Command` and is a `Callable[Int]`, which returns the exit code. The
    * table names it, and does not use it, since its module uses this one. The launcher starts a
    * command with the jars of its module alone, so not all classes are there.
    */
  private[program] val table: Vector[(String, String)] = Vector(
    "feeds" -> "weir.feeds.command.Feeds",
    "sql" -> "weir.cli.command.Sql",
    "relay" -> "weir.cli.command.Relay",
    "top" -> "weir.cli.command.Top",
    "compare" -> "weir.lab.command.Compare",
    "clients" -> "weir.lab.command.Clients",
    "burst" -> "weir.lab.command.Burst",
    "gather" -> "weir.lab.command.Gather",
    "sleepers" -> "weir.lab.command.Sleepers",
    "scale" -> "weir.lab.command.Scale",
    "load" -> "weir.lab.command.Load",
    "stack" -> "weir.lab.command.Stack",
    "jobs" -> "weir.lab.command.Jobs",
    "kafka-bench" -> "weir.lab.command.KafkaBench",
    "test" -> "weir.cli.command.Test",
    "bench" -> "weir.lab.command.Bench",
    "example" -> "weir.cli.command.Example",
    "docs" -> "weir.cli.command.Docs",
    "publish-local" -> "weir.cli.command.PublishLocal"
  )

  /** Returns the command that `args` begin with. If they begin with none, returns all that are on
    * the class path, which takes picocli some milliseconds each.
    */
  private def commands(args: Seq[String]): Seq[AnyRef] =
    val named = args.headOption.flatMap(name => table.collectFirst { case (`name`, of) => of })
    named.flatMap(command).map(Seq(_)).getOrElse(table.flatMap((_, of) => command(of)))

  private def command(className: String): Option[AnyRef] =
    try Some(Class.forName(className).getConstructor().newInstance().asInstanceOf[AnyRef])
    catch case _: ClassNotFoundException => None

  /** Ends the process after the command has run. */
  def main(args: Array[String]): Unit =
    val output =
      Output(FileOutputStream(FileDescriptor.out), FileOutputStream(FileDescriptor.err))
    // For all that does not print to what `run` is given, libraries included.
    System.setOut(output.out)
    System.setErr(output.err)
    sys.exit(output.exitCode(run(args.toSeq, _, _)))

  /** Returns the exit code: the command's own; 1 after one line about a failure; or 2 after one
    * line about an error in `args` (1 for `weir sql`).
    */
  def run(args: Seq[String], out: PrintWriter, err: PrintWriter): Int =
    if args == Seq("--version") || args == Seq("-V") then
      out.println(version) // picocli alone takes as long as the rest of the start
      ExitCode.OK
    else runCommand(args, out, err)

  private def runCommand(args: Seq[String], out: PrintWriter, err: PrintWriter): Int =
    val line = new CommandLine(new Weir)
    commands(args).foreach(line.addSubcommand)
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
    def getVersion: Array[String] = Array(version)

  private def version: String =
    val known = Option(getClass.getPackage.getImplementationVersion)
    s"weir ${known.getOrElse("(not from a jar)")}"
