package weir.feeds

import java.io.PrintWriter
import java.nio.file.{Files, Path}

import weir.feeds.store.{Database, FeedOrigin, FeedStore, Outages}
import weir.program.BadInput

/** Decides which database a run of `weir feeds` is on. The demo has one of its own, so that its
  * invented items are never among the user's.
  */
final class RunDatabase(
    settings: FeedsSettings,
    out: PrintWriter,
    err: PrintWriter,
    folder: Path = Path.of("")
):
  private val usual = folder.resolve(RunDatabase.usual).toString
  private val demo = folder.resolve(RunDatabase.demo).toString

  /** Opens the database. **Fails** with a [[BadInput]] if it does not exist and no feeds are given
    * for which to create it.
    *
    * @param hasFeeds
    *   true if the user has given feeds to add
    */
  def open(hasFeeds: Boolean): FeedStore =
    (settings.db, settings.siteSize) match
      case (named, _) if hasFeeds => opened(Database.of(named.getOrElse(usual)))
      case (Some(named), Some(_)) => opened(Database.of(named))
      case (None, Some(_)) => opened(Database.of(demo))
      case (Some(named), None) => begun(Database.of(named))
      case (None, None) =>
        ofUser().getOrElse:
          if !settings.isQuiet then
            out.println(
              s"no feeds of your own in $usual, so this is the demo, in $demo; begin with weir " +
                "feeds add URL, --opml FILE or --urls FILE"
            )
          opened(Database.of(demo))

  private def opened(database: Database): FeedStore =
    val outages =
      Outages(database.name, isWaiting = true, text => err.println(s"weir feeds: $text"))
    FeedStore.open(database, outages, fillsOutbox = settings.gives.nonEmpty)

  /** Opens a database that has had feeds. */
  private def begun(database: Database): FeedStore =
    def bad(problem: String) = throw BadInput(
      database.name,
      problem,
      "Begin with weir feeds add URL, or give --opml FILE or --urls FILE; without --db, weir " +
        "feeds shows a demo."
    )
    if database.version().isEmpty then bad("there is no database of feeds here.")
    val store = opened(database)
    if store.origin.isEmpty then
      store.close()
      bad("there are no feeds in it yet.")
    store

  /** The usual one, if the user has feeds in it. */
  private def ofUser(): Option[FeedStore] =
    val database = Database.of(usual)
    if database.version().isEmpty then None
    else
      val store = opened(database)
      if store.origin.contains(FeedOrigin.User) && store.size() > 0 then Some(store)
      else
        store.close()
        None

object RunDatabase:
  /** The database of the user's feeds, if no other is named. */
  val usual = "weir-feeds.db"

  val demo = "weir-feeds-demo.db"

  /** Returns true if there is a database of the demo here, and none of the user. */
  def isDemoAlone: Boolean = !Files.exists(Path.of(usual)) && Files.exists(Path.of(demo))
