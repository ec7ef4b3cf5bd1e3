package weir.feeds.command

import scala.jdk.CollectionConverters.*

import picocli.CommandLine.{Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.feeds.RunDatabase
import weir.program.BadInput

/** `--db` for the commands under `weir feeds`, given before their name or after it. */
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

  /** Returns the database that is meant. **Fails** as `chosen`. */
  def target: String = chosen.getOrElse(RunDatabase.usual)

  /** The same, for a command that only reads: the demo's if there is no other, which it says. */
  def shown: String = chosen.getOrElse:
    if RunDatabase.isDemoAlone then
      spec.commandLine.getErr.println(
        s"no feeds of your own in ${RunDatabase.usual}; this is the demo, in ${RunDatabase.demo}"
      )
      RunDatabase.demo
    else RunDatabase.usual

  /** None if none was given.
    *
    * **Fails** with [[BadInput]] if `weir feeds` was given an option that only fetching has.
    */
  private def chosen: Option[String] =
    val fetching = spec.parent.commandLine.getParseResult.matchedOptions.asScala
    for option <- fetching.find(_.longestName != "--db") do
      throw BadInput(
        option.longestName,
        s"weir feeds ${spec.name} has no such option.",
        s"Leave it out; weir feeds ${spec.name} --help lists the options."
      )
    Option(db).orElse(Option(spec.parent.userObject.asInstanceOf[Feeds].db))
