package weir.feeds.manage

import java.io.PrintWriter

import weir.feeds.input.{FeedUrl, NewFeed}
import weir.feeds.store.{Database, FeedEdits, FeedStore}
import weir.program.{BadInput, Text}

/** The whole of `weir feeds add`: adds feeds by their addresses, and fetches none. */
final class AddJob(db: String, typed: Vector[String], out: PrintWriter):
  /** Returns the exit code.
    *
    * **Fails** with [[BadInput]], and adds none, if one of the addresses cannot be used.
    */
  def run(): Int =
    val feeds = typed
      .map(text =>
        NewFeed
          .typed(text)
          .fold(problem => throw BadInput("weir feeds add", problem, FeedUrl.hint), identity)
      )
      .distinctBy(_.url)
    val urls = feeds.map(_.url)
    val store = FeedStore.open(Database.of(db))
    try
      val added = store.add(feeds)
      val again = FeedEdits(store).enableAt(urls)
      val known = urls.size - added - again
      val parts = Vector(
        s"${Text.count(added, "feed")} added to ${store.name}",
        if again == 0 then "" else s"${Text.grouped(again)} enabled again",
        if known == 0 then "" else s"${Text.grouped(known)} known already"
      )
      out.println(parts.filter(_.nonEmpty).mkString(", "))
      0
    finally store.close()
