package weir.program

import java.io.IOException
import java.nio.file.{AccessDeniedException, NoSuchFileException}

import weir.postgres.Secrets

/** Input of the user that cannot be used, as one line that names the place, says what to do, and
  * shows no secret.
  *
  * It is thrown before anything is written, so the command can print the line, exit with the code
  * for bad input and be sure that nothing changed.
  */
final class BadInput(val place: String, val problem: String, val hint: String)
    extends RuntimeException(
      Secrets.mask(s"$place: $problem $hint").linesIterator.mkString(" ")
    ):
  override def fillInStackTrace(): Throwable = this

object BadInput:

  /** `body`, which reads the file that the user has named `name`. **Fails** with a `BadInput` about
    * that file if it cannot be read.
    */
  def whileReading[A](name: String)(body: => A): A =
    def bad(problem: String, hint: String) = throw BadInput(name, problem, hint)
    try body
    catch
      case _: NoSuchFileException => bad("there is no such file.", "Check the name.")
      case _: AccessDeniedException =>
        bad("it may not be read.", "Give yourself the right to read it.")
      case error: IOException =>
        bad(s"it cannot be read (${error.getMessage}).", "Check the file and its disk.")
