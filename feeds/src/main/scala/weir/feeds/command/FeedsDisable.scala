package weir.feeds.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Parameters, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.manage.EditJob

/** `weir feeds disable`: its options, and nothing else. */
@Command(
  name = "disable",
  sortOptions = false,
  description = Array(
    "Stop fetching feeds until they are enabled. Their items stay.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0; 1 when the database fails; 2 for bad input (then nothing was changed).",
    ""
  )
)
final class FeedsDisable extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var database: FeedsDatabase = new FeedsDatabase

  @Parameters(
    arity = "1..*",
    paramLabel = "URL",
    description = Array("Addresses of feeds, written in any form in which they may be added.")
  )
  private[command] var urls: Array[String] = Array.empty

  def call(): Int =
    val out = spec.commandLine.getOut
    EditJob(database.target, EditJob.Edit.Disable, urls.toVector, out).run()
