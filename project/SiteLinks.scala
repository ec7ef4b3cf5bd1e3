import java.net.URI

import scala.jdk.CollectionConverters._
import scala.util.matching.Regex.Match

import org.jsoup.Jsoup
import sbt._

/** The links between pages: where they lead, and which lead nowhere. */
object SiteLinks {
  val repository = "https://github.com/weir-scala/weir"

  /** Returns the anchor that GitHub gives to a heading. */
  def anchor(heading: String): String =
    heading.trim.toLowerCase.replaceAll("[^\\p{L}\\p{N}\\p{M}_ -]", "").replace(' ', '-')

  /** The path in the repository that `target`, in the page `from`, means. */
  def resolve(from: String, target: String): String =
    if (target.isEmpty) from
    else URI.create("/" + from).resolve(target).normalize.getPath.stripPrefix("/").stripSuffix("/")

  private final case class Link(line: Int, target: String) {
    def isInternal: Boolean = !target.matches("[a-z]+:.*")
    val Array(path, anchor) = (target + "#").split("#", -1).take(2)
  }

  private val link = """(?<=\])\(([^)\s]+)\)""".r
  private val code = """(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$|(`+)(?:(?!\n\n).)+?\1""".r

  /** Returns the links of a page, but for what looks like one in code, with their places in the
    * text.
    */
  private def links(text: String): Seq[(Match, Link)] = {
    val prose =
      code.replaceAllIn(text, found => found.matched.map(c => if (c == '\n') c else ' '))
    link.findAllMatchIn(prose).toSeq.map { found =>
      (found, Link(text.take(found.start).count(_ == '\n') + 1, found.group(1)))
    }
  }

  /** Returns the text of a page, with its links to files that are no pages turned to GitHub. */
  def outward(pages: SitePages, from: String, text: String): String =
    links(text).foldRight(text) { case ((found, link), text) =>
      val path = resolve(from, link.path)
      val file = pages.root / path
      if (!link.isInternal || pages.contains(path) || path.endsWith(".svg") || !file.exists) text
      else {
        val to =
          if (pages.contains(s"$path/README.md")) link.path.stripSuffix("/") + "/README.md"
          else s"$repository/${if (file.isDirectory) "tree" else "blob"}/main/$path"
        text.patch(found.start(1), to, found.group(1).length)
      }
    }

  /** Returns a line for each link that leads nowhere: of the pages with the line in the page, and
    * of whatever is in the site besides.
    */
  def broken(pages: SitePages, site: File): Seq[String] = {
    val anchors = pages.paths.map(path => path -> anchorsOf(site / html(path))).toMap
    val inPages =
      for {
        page <- pages.paths
        (_, link) <- links(pages.source(page)) if link.isInternal
        path = resolve(page, link.path)
        problem <- problem(pages, anchors, path, link.anchor)
      } yield s"$page:${link.line}: ${link.target}: $problem"
    inPages ++ brokenHtml(site)
  }

  private def problem(
      pages: SitePages,
      anchors: Map[String, Set[String]],
      path: String,
      anchor: String
  ): Option[String] =
    if (pages.contains(path))
      if (anchor.isEmpty || anchors(path)(anchor)) None
      else Some(s"$path has no heading #$anchor")
    else if ((pages.root / path).exists) None
    else Some(s"there is no $path")

  /** The path in the site of a page. */
  def html(path: String): String =
    path.stripSuffix("README.md") + (if (path.endsWith("README.md")) "index.html" else "") match {
      case page if page.endsWith(".md") => page.stripSuffix("md") + "html"
      case page => page
    }

  private def anchorsOf(page: File): Set[String] =
    Jsoup
      .parse(page, "UTF-8")
      .select("[id], a[name]")
      .asScala
      .map(element => if (element.id.isEmpty) element.attr("name") else element.id)
      .toSet

  /** Returns the targets that the pages' HTML names and the site lacks: in templates, scripts, and
    * scaladoc if it exists. Scaladoc's own pages are left out, but for its first: they link to
    * types that are inherited and have no page.
    */
  private def brokenHtml(site: File): Seq[String] =
    for {
      page <- (site ** "*.html").get.sortBy(_.getPath)
      at = IO.relativize(site, page).get
      if !at.startsWith("api/") || at == "api/index.html"
      element <- Jsoup.parse(page, "UTF-8").select("a[href], link[href], [src]").asScala
      target = if (element.hasAttr("href")) element.attr("href") else element.attr("src")
      if target.nonEmpty && !target.matches("(?i)([a-z]+:|//|#).*")
      path = resolve(at, target.takeWhile(c => c != '#' && c != '?'))
      isApi = path == "api" || path.startsWith("api/")
      if !(site / path).exists && (!isApi || (site / "api").exists)
    } yield s"$at: $target: the site has no $path"
}
