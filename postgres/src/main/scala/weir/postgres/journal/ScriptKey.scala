package weir.postgres.journal

import java.nio.file.Path
import weir.postgres.Resume

/** Finds the row of a script in the journal.
  *
  * @param name
  *   the name of a new row
  * @param place
  *   the absolute path of the file, which each run writes into its row: it identifies a file that
  *   is given by another path
  * @param formerly
  *   the key that earlier versions used: the name of the file alone
  */
private[postgres] final case class ScriptKey(
    name: String,
    place: Option[String],
    formerly: Option[String]
):
  /** Returns the name that is locked: the same for any two runs that might take the same row. */
  def lock: String = formerly.getOrElse(name)

  /** The token of a run, followed by the place. */
  def token(random: String): String = random + place.fold("")(" " + _)

  /** Returns the name of the script's row among `rows`, which are names with the tokens of their
    * last runs; none if the script has no row.
    *
    * A row of a former version has no place. A file of its name may be another one, which the
    * checksum detects.
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
