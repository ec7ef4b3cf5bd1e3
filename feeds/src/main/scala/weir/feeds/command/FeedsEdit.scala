package weir.feeds.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Mixin, Parameters, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.manage.EditJob

/** The options of a command that changes feeds of a database, and nothing else. */
abstract class FeedsEdit(edit: EditJob.Edit) extends Callable[Int]:
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

  final def call(): Int =
    EditJob(database.target, edit, urls.toVector, spec.commandLine.getOut).run()
