package weir.cli.sql.report

import weir.postgres.Resume
import weir.program.Text

/** Tells the user what a journal has of a script. */
object Resumption:
  /** @param at
    *   where the user wants to go on, if not behind that
    */
  def line(script: String, before: Resume.Before, at: Option[Resume.Place]): Option[String] =
    val going = if at.isEmpty then "going on behind it" else "going on where --resume-at says"
    Option.when(before.statements > 0)(
      s"$script: ${Text.count(before.statements, "statement")}, the last of them at " +
        s"${before.place}, had been " +
        s"applied by ${before.applied}; $going"
    )
