package weir.feeds.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Parameters, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.manage.AddJob

/** `weir feeds add`: its options, and nothing else. */
@Command(
  name = "add",
  sortOptions = false,
  description = Array(
    "Add feeds, which the next weir feeds fetches. The database is created if it does not exist.",
    "",
    "A feed that exists already is not changed. If it was disabled, or if its server " +
      "answered that it is gone (410), it is due again.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0; 1 when the database fails; 2 for bad input (then nothing was changed).",
    ""
  )
)
final class FeedsAdd extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var database: FeedsDatabase = new FeedsDatabase

  @Parameters(
    arity = "1..*",
    paramLabel = "URL",
    description = Array("Like https://example.org/feed.xml, or example.org/feed.xml.")
  )
  private[command] var urls: Array[String] = Array.empty

  def call(): Int = AddJob(database.target, urls.toVector, spec.commandLine.getOut).run()
