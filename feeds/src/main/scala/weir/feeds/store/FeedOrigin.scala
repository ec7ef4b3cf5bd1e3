package weir.feeds.store

import java.sql.Connection

import weir.program.BadInput

/** The origin of the feeds in a database: the demo, or the user. A database never has both, since a
  * demo's invented items would be hard to tell from the user's own.
  */
enum FeedOrigin(private val fact: String):
  case User extends FeedOrigin("user")
  case Demo extends FeedOrigin("demo")

object FeedOrigin:
  /** The host of the demo's feeds. `.localhost` is kept from DNS by RFC 6761, so this name can
    * never be registered.
    */
  val demoHost = "site.weir.localhost"

  /** The row of `meta`. */
  private val name = "feeds"

  /** None before the first feed was added. */
  def of(connection: Connection): Option[FeedOrigin] =
    Sql
      .query(connection, "SELECT value FROM meta WHERE name = ?")(name)(_.getString(1))
      .headOption
      .flatMap(fact => values.find(_.fact == fact))

  /** Says that the feeds are of `origin`, in the transaction that adds the first of them; returns
    * false if that was said before. Another process that says something at the same moment waits
    * for the end of this transaction.
    *
    * **Fails** with [[BadInput]] if the feeds are of another origin.
    */
  private[store] def claim(connection: Connection, origin: FeedOrigin, database: String): Boolean =
    val said = Sql.update(
      connection,
      "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
    )(name, origin.fact)
    for other <- of(connection) if other != origin do throw refusal(other, database)
    said == 1

  private def refusal(there: FeedOrigin, database: String): BadInput = there match
    case Demo =>
      BadInput(
        database,
        "it has the feeds of the demo, and never others beside them.",
        "Name another database with --db, or delete this one."
      )
    case User =>
      BadInput(
        database,
        "it has feeds of yours, and never those of the demo beside them.",
        "Leave out --site-feeds, or name another database with --db."
      )
