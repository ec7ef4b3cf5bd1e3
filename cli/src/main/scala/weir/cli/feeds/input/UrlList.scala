package weir.cli.feeds.input

import java.nio.file.Path

import weir.cli.BadInput

/** Reads a list of feeds from a text file: one URL a line; empty lines and `# comments` are skipped. */
object UrlList:
  /** The feeds in `path`, in order, each address once.
    *
    * '''Fails''' with [[BadInput]] that names the line, on the first line that is no http(s) URL.
    */
  def read(path: Path): Vector[NewFeed] =
    val feeds = InputFile
      .lines(path)
      .zipWithIndex
      .map((line, index) => (line.trim, index + 1))
      .filterNot((line, _) => line.isEmpty || line.startsWith("#"))
      .map: (line, number) =>
        FeedUrl.parse(line) match
          case Right(url) => NewFeed(url, title = None)
          case Left(problem) => throw BadInput(s"$path:$number", problem, FeedUrl.hint)
    if feeds.isEmpty then
      throw BadInput(path.toString, "there is no URL in it.", "Put one http(s) URL on each line.")
    feeds.distinctBy(_.url)
