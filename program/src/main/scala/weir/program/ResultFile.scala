package weir.program

import java.io.IOException
import java.nio.file.{FileSystemException, Files, Path, StandardCopyOption}

/** A file that an option names for results. */
final case class ResultFile(option: String, path: Path):
  /** **Fails** with [[ResultFile.NotWritten]].
    */
  def write(text: String): Unit =
    writing(Files.writeString(path, text): Unit)

  /** Replaces the text of a file, as [[write]] does, for a file that is written again and again.
    * Readers always see the complete old or new text, even after the program has been killed.
    */
  def replace(text: String): Unit =
    if Files.exists(path) && !Files.isRegularFile(path) then write(text) // such as /dev/stdout
    else
      val part = path.resolveSibling(s"${path.getFileName}.part")
      writing:
        Files.writeString(part, text): Unit
        Files.move(part, path, StandardCopyOption.REPLACE_EXISTING): Unit

  /** Makes it a copy of the file `other`. **Fails** with [[ResultFile.NotWritten]].
    */
  def copyOf(other: Path): Unit =
    writing(Files.copy(other, path, StandardCopyOption.REPLACE_EXISTING): Unit)

  private def writing(write: => Unit): Unit =
    try write
    catch case error: IOException => throw ResultFile.NotWritten(this, error)

object ResultFile:
  /** Results could not be written; the message is one line. Unlike bad input, this is found after
    * the work.
    */
  final class NotWritten(file: ResultFile, error: IOException)
      extends RuntimeException(
        s"${file.option} ${file.path}: it cannot be written (${reason(error)}). " +
          "Nothing else failed.",
        error
      )

  /** Runs each of `writes`, even if one before it has failed. **Fails** with the first error. */
  def all(writes: Iterable[() => Unit]): Unit =
    val failed = writes.flatMap: write =>
      try
        write()
        None
      catch case error: NotWritten => Some(error)
    failed.headOption.foreach: first =>
      failed.tail.foreach(first.addSuppressed)
      throw first

  private def reason(error: IOException): String =
    val ofFile = Option(error).collect { case known: FileSystemException => known.getReason }
    ofFile
      .filter(_ != null)
      .orElse(Option(error.getMessage))
      .getOrElse(error.getClass.getSimpleName)
