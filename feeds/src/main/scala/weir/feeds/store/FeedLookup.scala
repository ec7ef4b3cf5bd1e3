package weir.feeds.store

import java.sql.Connection

import weir.feeds.input.FeedUrl
import weir.program.BadInput

/** Finds the feed that a user names by its address, or by an address that it had before it moved.
  */
object FeedLookup:
  /** Returns the number of the feed at `url`. */
  def idOf(connection: Connection, url: FeedUrl): Option[Long] =
    def one(query: String) = Sql.query(connection, query)(url.text)(_.getLong(1)).headOption
    one("SELECT id FROM feed WHERE url = ?")
      .orElse(one("SELECT feed_id FROM former_url WHERE url = ?"))

  /** Returns the number of the feed that `typed` names, in any form in which it may be added.
    * **Fails** with a [[BadInput]] about `place` if there is none; the message names similar feeds.
    */
  def find(connection: Connection, database: String, place: String, typed: String): Long =
    val url = FeedUrl.typed(typed) match
      case Right(url) => url
      case Left(problem) => throw BadInput(place, problem, FeedUrl.hint)
    idOf(connection, url).getOrElse:
      val hint = similar(connection, url) match
        case Vector() => "weir feeds list shows the feeds."
        case some => s"Similar: ${some.mkString(", ")}."
      throw BadInput(place, s"there is no feed ${url.text} in $database.", hint)

  /** Returns up to three addresses of which `url` may be a misspelling, the most similar first. If
    * there is none, returns addresses of the same host.
    */
  private def similar(connection: Connection, url: FeedUrl): Vector[String] =
    val all = Sql.query(connection, "SELECT url FROM feed")()(_.getString(1))
    val asked = bare(url.text)
    val near = all
      .map(known => (distance(asked, bare(known), farthest(asked)), known))
      .filter((distance, _) => distance <= farthest(asked))
      .sorted
      .map((_, known) => known)
    val found =
      if near.nonEmpty then near
      else all.filter(known => FeedUrl.stored(known).hostName == url.hostName).sorted
    found.take(suggested)

  private val suggested = 3

  private def farthest(text: String) = (text.length / 5).max(2)

  /** Without what people get wrong most often. */
  private def bare(url: String): String =
    url.replaceFirst("^https?://(?:www\\.)?", "").stripSuffix("/")

  /** Returns the number of characters that must be put in, left out or replaced to make one text of
    * the other (Levenshtein); some number beyond `most` if it is more than that.
    */
  private def distance(left: String, right: String, most: Int): Int =
    if math.abs(left.length - right.length) > most then most + 1
    else
      right
        .foldLeft((0 to left.length).toVector): (before, char) =>
          val step = left.indices.scanLeft(before.head + 1): (last, index) =>
            val replaced = before(index) + (if left(index) == char then 0 else 1)
            replaced min (last + 1) min (before(index + 1) + 1)
          step.toVector
        .last
