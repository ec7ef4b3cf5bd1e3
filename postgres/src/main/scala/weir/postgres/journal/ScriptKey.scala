package weir.postgres.journal

import java.nio.file.Path
import weir.postgres.Resume

/** How the journal finds the row of a script.
  *
  * @param name
  *   what a new row is called
  * @param place
  *   where the file is, which each run leaves in its row: a file that is called by another path is known by it
  * @param formerly
  *   what versions before this one called it: the name of the file alone
  */
private[postgres] final case class ScriptKey(
    name: String,
    place: Option[String],
    formerly: Option[String]
):
  /** What two runs that might take the same row lock. */
  def lock: String = formerly.getOrElse(name)

  /** The token of a run, with the place behind it. */
  def token(random: String): String = random + place.fold("")(" " + _)

  /** Which of the rows, names with the tokens of their last runs, is that of the script; none if it has none.
    *
    * A row of a former version is of no known place. What its name says may be another file, which the sum of what was
    * applied tells.
    */
  def find(rows: Vector[(String, String)]): Option[String] =
    def isThere(run: String) = place.exists(at => run.endsWith(s" $at"))
    rows
      .find((_, run) => isThere(run))
      .orElse(rows.find(_._1 == name))
      .orElse(rows.find((script, run) => formerly.contains(script) && !run.contains(' ')))
      .map(_._1)

private[postgres] object ScriptKey:
  def of(script: String, resume: Resume): ScriptKey =
    val name = resume.name(script)
    if resume.name ne Resume.path then ScriptKey(name, None, None)
    else
      val place = Path.of(script).toAbsolutePath.normalize.toString
      ScriptKey(name, Some(place), Some(Resume.fileName(script)))
