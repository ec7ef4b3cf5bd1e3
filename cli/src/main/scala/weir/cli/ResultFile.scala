package weir.cli

import java.io.IOException
import java.nio.file.{FileSystemException, Files, Path}

/** A file that an option names for results. */
private[cli] final case class ResultFile(option: String, path: Path):
  /** **Fails** with [[ResultFile.NotWritten]].
    */
  def write(text: String): Unit =
    try Files.writeString(path, text): Unit
    catch case error: IOException => throw ResultFile.NotWritten(this, error)

private[cli] object ResultFile:
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
