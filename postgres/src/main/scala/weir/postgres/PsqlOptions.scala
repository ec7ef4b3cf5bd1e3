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
  *   runs the programs that `\!` names, and that commands such as `\o` write to
  * @param results
  *   the treatment of the rows of statements; `\o` and `\g` with a file write them in any case
  */
final case class PsqlOptions(
    variables: Map[String, String] = Map.empty,
    isStrict: Boolean = false,
    folder: Path = Path.of(""),
    allowsShell: Boolean = false,
    results: Results = Results.Dropped
):
  try Commands(this): Unit
  catch
    case problem: CommandProblem =>
      throw IllegalArgumentException(s"PsqlOptions: ${problem.problem}. ${problem.hint}")

/** The treatment of the rows of statements. */
enum Results:
  /** They are dropped as they arrive, however many. */
  case Dropped

  /** They are printed as psql prints them: as a table, until `\pset` names another format. */
  case Table

  /** As `Table`, beginning with the format `csv`. */
  case Csv
