package weir.feeds.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Parameters, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.manage.EditJob

/** `weir feeds enable`: its options, and nothing else. */
@Command(
  name = "enable",
  sortOptions = false,
  description = Array(
    "Fetch feeds again that were disabled, or whose servers answered that they are gone (410).",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0; 1 when the database fails; 2 for bad input (then nothing was changed).",
    ""
  )
)
final class FeedsEnable extends Callable[Int]:
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
    EditJob(database.target, EditJob.Edit.Enable, urls.toVector, out).run()
