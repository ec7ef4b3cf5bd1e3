package weir.cli.lab

/** A report as one page that needs nothing else. */
object HtmlReport:
  def page(report: LabReport): String =
    val rows = report.results.map: result =>
      val cells = Seq(result.name, result.system, s"${result.value}", result.unit, result.better)
      cells.map(cell => s"<td>${escape(cell)}</td>").mkString("<tr>", "", "</tr>")
    s"""<!doctype html>
       |<html lang="en"><head><meta charset="utf-8"><title>weir ${escape(
        report.command
      )}</title></head>
       |<body><table>${rows.mkString("\n")}</table></body></html>
       |""".stripMargin

  private def escape(text: String): String =
    text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;")
