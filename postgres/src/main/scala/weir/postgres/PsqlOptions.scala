package weir.postgres

import java.nio.file.Path
import weir.postgres.psql.{CommandProblem, Commands}

/** The options for the commands and the variables of psql in a script.
  *
  * @param variables
  *   the variables that are set before the first script begins, as by psql's `-v NAME=VALUE`
  * @param isStrict
  *   refuses the commands that only display, such as `\d`, which are passed over otherwise
  * @param folder
  *   where the relative names of files begin, until `\cd` names another folder
  * @param allowsShell
  *   runs the programs that `\!` names
  */
final case class PsqlOptions(
    variables: Map[String, String] = Map.empty,
    isStrict: Boolean = false,
    folder: Path = Path.of(""),
    allowsShell: Boolean = false
):
  try Commands(this): Unit
  catch
    case problem: CommandProblem =>
      throw IllegalArgumentException(s"PsqlOptions: ${problem.problem}. ${problem.hint}")
