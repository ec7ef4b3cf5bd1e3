package weir.postgres

import java.nio.file.Path
import scala.concurrent.duration.*

/** Continues scripts at the point at which an earlier run was interrupted. A journal in the
  * database records the applied statements.
  *
  * @param name
  *   returns the name that the journal uses for a script. By default that is the path of its file
  *   as it was given. It must be the same each time. With `Resume.path`, a file is also recognized
  *   by its absolute path.
  * @param at
  *   continues at the first statement that begins there or later, regardless of the journal
  * @param patience
  *   the time to wait for another run of the script to end: a server takes a while to notice that
  *   its client was killed
  * @param found
  *   receives for each script what the journal has of it, before its first piece
  */
final case class Resume(
    name: String => String = Resume.path,
    at: Option[Resume.Place] = None,
    patience: FiniteDuration = 10.seconds,
    found: (String, Option[Resume.Before]) => Unit = (_, _) => ()
)

object Resume:
  /** The path as it was given, with `.` and `..` resolved. */
  val path: String => String = script => Path.of(script).normalize.toString

  /** Returns the part after the last `/`. */
  def fileName(script: String): String = script.substring(script.lastIndexOf('/') + 1)

  /** The part of a script that an earlier run has applied.
    *
    * @param statements
    *   the number of statements; a COPY with its data counts as one
    * @param bytes
    *   the byte at which the last of them ends
    * @param place
    *   the place at which the last of them begins, as `line:column`
    * @param applied
    *   when
    */
  final case class Before(statements: Long, bytes: Long, place: String, applied: String)

  /** A place in a script, as a user gives it: `120`, `120:1`, or `end`. */
  final case class Place(line: Long, column: Long):
    /** Returns true if a statement that begins there comes before this place. */
    private[postgres] def isAfter(line: Long, column: Long): Boolean =
      line < this.line || (line == this.line && column < this.column)

  object Place:
    val end: Place = Place(Long.MaxValue, 1)

    /** Parses `text`; none if it is no place. */
    def parse(text: String): Option[Place] = text.split(":", -1).map(_.toLongOption) match
      case Array(Some(line)) if line >= 1 => Some(Place(line, 1))
      case Array(Some(line), Some(column)) if line >= 1 && column >= 1 => Some(Place(line, column))
      case _ => Option.when(text == "end")(end)
