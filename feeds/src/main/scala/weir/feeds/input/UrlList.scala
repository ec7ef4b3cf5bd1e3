package weir.feeds.input

import java.nio.file.Path

import weir.program.BadInput

/** Reads a list of feeds from a text file: one URL a line; empty lines and `# comments` are
  * skipped.
  */
object UrlList:
  /** Returns the feeds in `path`, in order, and each line that is neither UTF-8 nor empty nor a
    * URL.
    *
    * **Fails** with [[BadInput]] if the file cannot be read or has nothing in it.
    */
  def read(path: Path): FeedList =
    val list = FeedList.of(
      InputFile
        .lines(path)
        .zipWithIndex
        .map((line, index) => (line.map(_.trim), s"$path:${index + 1}"))
        .filterNot((line, _) => line.exists(text => text.isEmpty || text.startsWith("#")))
        .map: (line, place) =>
          line match
            case None => Left(BadInput(place, "this is not UTF-8 text.", "Save the file as UTF-8."))
            case Some(text) =>
              NewFeed.typed(text).left.map(BadInput(place, _, FeedUrl.hint))
    )
    if list == FeedList.empty then
      throw BadInput(path.toString, "there is no URL in it.", "Put one http(s) URL on each line.")
    list
