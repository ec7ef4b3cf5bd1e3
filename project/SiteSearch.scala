import scala.jdk.CollectionConverters._

import org.jsoup.Jsoup
import org.jsoup.nodes.Element
import sbt._
import sjsonnew.shaded.scalajson.ast.unsafe._
import sjsonnew.support.scalajson.unsafe.{CompactPrinter, Parser}

/** The entries of the search box: one for each section of a page, and one for each name of the API.
  */
object SiteSearch {

  /** Returns a script that defines `searchData`. */
  def data(pages: Seq[String], site: File): String = {
    val entries = pages.flatMap(page => sections(SiteLinks.html(page), site)) ++ names(site)
    "const searchData = " + CompactPrinter(JArray(entries.toArray)) + "\n"
  }

  private def entry(url: String, title: String, page: String, text: String) =
    JObject(
      Array("url" -> url, "title" -> title, "page" -> page, "text" -> text).map {
        case (field, value) => JField(field, JString(value))
      }
    )

  private def sections(page: String, site: File): Seq[JValue] = {
    val main = Jsoup.parse(site / page, "UTF-8").select("main.content").first
    val title = Option(main.select("h1").first).fold(page)(words)
    main.select("h1, h2, h3").asScala.map { heading =>
      val anchor = if (heading.id.isEmpty) "" else "#" + heading.id
      entry(page + anchor, words(heading), title, textAfter(heading))
    }
  }

  /** The text, without the icons that Helium puts there. */
  private def words(heading: Element): String = heading.text.replaceAll("\\p{Co}", "").trim

  private def textAfter(heading: Element): String =
    Iterator
      .iterate(heading.nextElementSibling)(_.nextElementSibling)
      .takeWhile(next => next != null && !next.tagName.matches("h[123]"))
      .map(_.text)
      .mkString(" ")

  /** Returns the types and methods in the index of scaladoc's own search. */
  private def names(site: File): Seq[JValue] = {
    val index = IO.read(site / "api" / "scripts" / "searchData.js")
    val JArray(members) = Parser.parseUnsafe(index.drop(index.indexOf('[')).trim.stripSuffix(";"))
    for {
      JObject(fields) <- members.toSeq
      text = fields.collect { case JField(field, JString(value)) => field -> value }.toMap
      if !Set("static", "package", "given")(text("k"))
    } yield entry("api/" + text("l"), text("n"), s"API: ${text("k")} of ${text("d")}", text("d"))
  }
}
