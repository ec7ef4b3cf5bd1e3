package weir.cli.sql.report

import weir.cli.Text
import weir.postgres.Resume

/** What a journal has of a script. */
object Resumption:
  def line(script: String, before: Resume.Before): String =
    s"$script: ${Text.count(before.statements, "statement")}, the last of them at ${before.place}, had been " +
      s"applied by ${before.applied}; going on behind it"
