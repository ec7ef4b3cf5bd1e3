package weir.testkit.explore

import java.nio.file.{Files, Path}

/** A story as a page of HTML, in a single file. */
private[testkit] object StoryPage:

  /** The folder of the files: that of `-Dweir.test.stories=`, or else `target/weir-stories`. */
  private def folder = Path.of(sys.props.getOrElse("weir.test.stories", "target/weir-stories"))

  /** Writes the page, and returns its file, or `None` if it cannot be written. */
  def write(place: String, told: Told, schedule: String): Option[Path] =
    try
      val name = if place.isEmpty then "story" else place.replaceAll("[^A-Za-z0-9.]+", "-")
      val file = folder.resolve(s"${name.stripSuffix("-")}.html")
      Files.createDirectories(folder): Unit
      Files.writeString(file, html(told, schedule)): Unit
      Some(file)
    catch case _: java.io.IOException => None

  def html(told: Told, schedule: String): String =
    val heads = told.heads.map(head => s"<th>${escape(head)}</th>").mkString
    val rows = told.rows.map { row =>
      val cells = told.heads.indices
        .map(i => if i == row.column then cell(row) else "<td></td>")
        .mkString
      s"<tr><td class=place>${escape(row.place)}</td>$cells</tr>"
    }
    s"""<!doctype html>
       |<meta charset="utf-8">
       |<meta name="viewport" content="width=device-width">
       |<title>${escape(told.ends)}</title>
       |<style>
       |body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; color-scheme: light dark }
       |table { border-collapse: collapse }
       |th, td { text-align: left; padding: .2rem .8rem; vertical-align: top }
       |th { border-bottom: 1px solid; position: sticky; top: 0; background: Canvas }
       |td { font-family: ui-monospace, monospace }
       |td + td { border-left: 1px solid color-mix(in srgb, currentColor 25%, transparent) }
       |.place { opacity: .65 }
       |.preempted { color: #c2410c }
       |.ends { font-weight: 600 }
       |</style>
       |<h1>An order that fails</h1>
       |<p class=ends>${escape(told.ends)}</p>
       |<table><tr><th>line</th>$heads</tr>
       |${rows.mkString("\n")}
       |</table>
       |<p><code>-Dweir.test.schedule=${escape(schedule)}</code> runs that order alone.</p>
       |""".stripMargin

  private def cell(row: Told.Row): String =
    val kind = if row.isPreemption then " class=preempted" else ""
    s"<td$kind>${escape(row.text)}</td>"

  private def escape(text: String): String =
    text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;")
