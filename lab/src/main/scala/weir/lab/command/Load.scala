package weir.lab.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.cli.sql.EmbeddedServer
import weir.lab.LabOptions
import weir.lab.load.{LoadJob, Loader}
import weir.program.OptionValue

/** `weir load`: its options, and nothing else. */
@Command(
  name = "load",
  sortOptions = false,
  description = Array(
    "Load a large script into Postgres with psql, with the server's own COPY, and with weir " +
      "sql and several of its settings for reading ahead.",
    "",
    "They take turns, and each loads 105 MB into an empty table. psql and weir sql are " +
      "separate processes. The time to start the JVM is shown apart.",
    ""
  ),
  footer = Array(
    "",
    "The script stays in the folder for temporary files, for the next run. It takes about ten " +
      "minutes.",
    "Exit code: 0, 1 when a figure is missing, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class Load extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var lab: LabOptions = new LabOptions

  @Opt(
    names = Array("--rows"),
    paramLabel = "N",
    description = Array("The number of rows. Default: 5650000; with --quick, 300000.")
  )
  private[command] var rows: String | Null = null

  @Opt(
    names = Array("--rounds"),
    paramLabel = "N",
    description = Array("The number of times that each loads them. Default: 7; with --quick, 2.")
  )
  private[command] var rounds: String | Null = null

  @Opt(
    names = Array("--db"),
    paramLabel = "URL",
    description = Array(
      "The database to load into, whose server can read the files of this machine, as a " +
        "superuser. Default: " +
        "embedded, a server of the program's own."
    )
  )
  private[command] var db: String = EmbeddedServer.name

  def call(): Int =
    val line = spec.commandLine
    LoadJob(settings, line.getOut, line.getErr).run()

  private def settings: LoadJob.Settings =
    val loaders = Loader.all(Loader.findPsql())
    val asked = lab.systems(loaders.map(_.system))
    val (usualRows, usualRounds) = if lab.isQuick then ("300000", "2") else ("5650000", "7")
    LoadJob.Settings(
      loaders = loaders.filter(loader => asked.contains(loader.system)),
      rows = OptionValue.number("--rows", Option(rows).getOrElse(usualRows), 1, 1_000_000_000L),
      rounds = OptionValue.count("--rounds", Option(rounds).getOrElse(usualRounds), 1, 1000),
      db = db,
      lab = lab.checked()
    )
