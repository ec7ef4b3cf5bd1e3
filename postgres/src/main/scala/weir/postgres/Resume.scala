package weir.postgres

import java.nio.file.Path
import scala.concurrent.duration.*

/** That scripts go on where an earlier run was cut off: what has been applied is in a journal in
  * the database.
  *
  * @param name
  *   of the name of a script, what the journal is to call it: the path of its file as it was given,
  *   unless you say otherwise. It must be the same each time. By `Resume.path`, a file is also
  *   known by where it is, however it was called.
  * @param at
  *   go on at the first statement that begins there or later, whatever the journal has
  * @param patience
  *   how long to wait for another run of the script to end: a server takes a while to see that its
  *   client was killed
  * @param found
  *   is told for each script what the journal has of it, before its first piece
  */
final case class Resume(
    name: String => String = Resume.path,
    at: Option[Resume.Place] = None,
    patience: FiniteDuration = 10.seconds,
    found: (String, Option[Resume.Before]) => Unit = (_, _) => ()
)

object Resume:
  /** The path as it was given, without `.` and what `..` takes back. */
  val path: String => String = script => Path.of(script).normalize.toString

  /** What comes after the last `/`. */
  def fileName(script: String): String = script.substring(script.lastIndexOf('/') + 1)

  /** What has been applied of a script before.
    *
    * @param statements
    *   how many, each COPY with its data being one
    * @param bytes
    *   where the last of them ends
    * @param place
    *   where the last of them begins, as `line:column`
    * @param applied
    *   when
    */
  final case class Before(statements: Long, bytes: Long, place: String, applied: String)

  /** A place in a script, as a user gives it: `120`, `120:1`, or `end`. */
  final case class Place(line: Long, column: Long):
    /** That a statement which begins there comes before it. */
    private[postgres] def isAfter(line: Long, column: Long): Boolean =
      line < this.line || (line == this.line && column < this.column)

  object Place:
    val end: Place = Place(Long.MaxValue, 1)

    /** What `text` means; none if it is no place. */
    def parse(text: String): Option[Place] = text.split(":", -1).map(_.toLongOption) match
      case Array(Some(line)) if line >= 1 => Some(Place(line, 1))
      case Array(Some(line), Some(column)) if line >= 1 && column >= 1 => Some(Place(line, column))
      case _ => Option.when(text == "end")(end)
