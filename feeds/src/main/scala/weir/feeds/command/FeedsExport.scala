package weir.feeds.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.manage.ExportJob

/** `weir feeds export`: its options, and nothing else. */
@Command(
  name = "export",
  sortOptions = false,
  description = Array(
    "Print the feeds as OPML, which --opml and other feed readers can read.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0; 1 when reading or writing fails; 2 for bad input.",
    ""
  )
)
final class FeedsExport extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var database: FeedsDatabase = new FeedsDatabase

  def call(): Int = ExportJob(database.target, spec.commandLine.getOut).run()
