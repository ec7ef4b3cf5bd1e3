import cats.effect.IO
import cats.effect.unsafe.implicits.global
import laika.api.Transformer
import laika.api.bundle.ExtensionBundle
import laika.ast.Path
import laika.ast.Path.Root
import laika.config.{LinkValidation, SyntaxHighlighting}
import laika.format.{HTML, Markdown}
import laika.helium.Helium
import laika.helium.config.{TextLink, ThemeNavigationSection}
import laika.io.model.InputTree
import laika.io.syntax._
import sbt.{file => _, _}

/** The documentation as a web site: the pages where the repository has them, a menu that is the
  * index in docs/README.md, scaladoc under `api/`, and a search box. It loads nothing from
  * elsewhere.
  */
object Site {

  /** @param root
    *   the repository
    * @param extras
    *   the template, the style and the scripts
    * @param api
    *   scaladoc; without it the site can be checked, and not searched
    */
  final case class Sources(root: File, extras: Seq[File], api: Option[File])

  /** Writes the site to `to`. Fails with the page and line of each link that leads nowhere. */
  def build(sources: Sources, version: String, to: File): Unit = {
    val pages = SitePages(sources.root)
    IO.withTemporaryDirectory { input =>
      pages.write(input)
      sources.extras.foreach(extra => IO.copyFile(extra, input / extra.getName))
      IO.delete(to)
      render(input, to, theme(pages, version), isRead = sources.api.nonEmpty)
    }
    for (api <- sources.api) {
      IO.copyDirectory(api, to / "api")
      IO.write(to / "search-data.js", SiteSearch.data(pages.paths, to))
    }
    val broken = SiteLinks.broken(pages, to)
    if (broken.nonEmpty) sys.error(broken.mkString("links that lead nowhere:\n", "\n", ""))
  }

  private val IO = sbt.IO

  /** @param isRead
    *   false if only the links matter: colours of code are half of the work
    */
  private def render(
      input: File,
      to: File,
      theme: laika.theme.ThemeProvider,
      isRead: Boolean
  ): Unit = {
    val colours = if (isRead) Seq(SyntaxHighlighting) else Nil
    Transformer
      .from(Markdown)
      .to(HTML)
      .using(Seq(Markdown.GitHubFlavor, anchors) ++ colours: _*)
      .withRawContent
      .withConfigValue(LinkValidation.Off) // it knows no anchors in HTML; SiteLinks does it
      .parallel[cats.effect.IO]
      .withTheme(theme)
      .build
      .use(
        _.fromInput(
          InputTree[cats.effect.IO]
            .addDirectory(input.toString)
            .addProvidedPath(Root / "api" / "index.html")
        ).toDirectory(to.toString).transform
      )
      .unsafeRunSync()
  }

  /** Headings have the anchors that GitHub gives them, so links are good in both. */
  private object anchors extends ExtensionBundle {
    val description = "anchors as on GitHub"
    override val slugBuilder: Option[String => String] = Some(SiteLinks.anchor)
  }

  private def theme(pages: SitePages, version: String) = {
    val menu = pages.menu.map { case (title, links) =>
      val entries = links.map { case (text, page) =>
        TextLink.internal(Path.parse("/" + page), text)
      }
      ThemeNavigationSection(title, entries.head, entries.tail: _*)
    }
    val fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
    val code = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    Helium.defaults.all.clearFontResources.all
      .fontFamilies(fonts, fonts, code)
      .all
      .metadata(title = Some("Weir"), language = Some("en"), version = Some(version))
      .site
      .mainNavigation(prependLinks = menu)
      .site
      .topNavigationBar(
        homeLink = TextLink.internal(Root / "README.md", "Weir"),
        navLinks = Seq(
          TextLink.internal(Root / "docs" / "README.md", "Pages"),
          TextLink.internal(Root / "api" / "index.html", "API"),
          TextLink.external(SiteLinks.repository, "GitHub")
        )
      )
      .site
      .internalCSS(Root / "site.css")
      .site
      .internalJS(Root / "search.js")
      .build
  }
}
