package weir.cli.sql

import weir.postgres.{PsqlOptions, Results}
import weir.program.BadInput

/** The values of `-v`. */
object PsqlVariables:
  /** **Fails** with [[BadInput]] if psql would not take one of them.
    */
  def options(
      settings: Seq[String],
      isStrict: Boolean,
      allowsShell: Boolean,
      results: Results
  ): PsqlOptions =
    val variables = settings.map: text =>
      val (name, value) = text.span(_ != '=')
      if value.isEmpty then
        throw BadInput("-v", s"'$text' is no variable with a value.", "Write -v NAME=VALUE.")
      name -> value.drop(1)
    try PsqlOptions(variables.toMap, isStrict, allowsShell = allowsShell, results = results)
    catch
      case bad: IllegalArgumentException =>
        throw BadInput("-v", bad.getMessage.stripPrefix("PsqlOptions: "), "See weir sql --help.")
