package weir.cli.command

import scala.jdk.CollectionConverters.*

import picocli.CommandLine.{Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.cli.BadInput

/** `--db` for the commands under `weir feeds` that read, given before their name or after it. */
final class FeedsDatabase:
  @Spec(Spec.Target.MIXEE)
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Opt(
    names = Array("--db"),
    paramLabel = "FILE|URL",
    description = Array(
      "The database that weir feeds fills: an SQLite file, or " +
        "jdbc:postgresql://HOST/DATABASE?user=U&password=P. Default: weir-feeds.db, in the " +
        "current folder."
    )
  )
  private[command] var db: String | Null = null

  /** **Fails** with [[BadInput]] if `weir feeds` was given an option that only fetching has.
    */
  def target: String =
    val fetching = spec.parent.commandLine.getParseResult.matchedOptions.asScala
    for option <- fetching.find(_.longestName != "--db") do
      throw BadInput(
        option.longestName,
        s"weir feeds ${spec.name} has no such option.",
        s"Leave it out; weir feeds ${spec.name} --help lists what there is."
      )
    Option(db).getOrElse(spec.parent.userObject.asInstanceOf[Feeds].db)
