package weir.cli.feeds.input

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{AccessDeniedException, Files, NoSuchFileException, Path}

import weir.cli.BadInput

/** Reads a file that the user named, whole, with an error that names the file. */
object InputFile:
  /** More than any list of feeds needs: a million URLs of 60 characters. */
  private val limitBytes = 64_000_000L

  /** The bytes of `path`.
    *
    * '''Fails''' with [[BadInput]] if it is missing, a folder, not readable or too large.
    */
  def bytes(path: Path): Array[Byte] =
    def bad(problem: String, hint: String) = throw BadInput(path.toString, problem, hint)
    try
      if Files.isDirectory(path) then
        bad("this is a folder, not a file.", "Name the file inside it.")
      else if Files.size(path) > limitBytes then
        bad(s"it is larger than ${ByteSize.show(limitBytes)}.", "Split it and run once for each.")
      else Files.readAllBytes(path)
    catch
      case _: NoSuchFileException => bad("there is no such file.", "Check the name.")
      case _: AccessDeniedException =>
        bad("it may not be read.", "Give yourself the right to read it.")
      case error: IOException =>
        bad(s"it cannot be read (${error.getMessage}).", "Check the file and its disk.")

  /** The lines of `path`, which must be UTF-8; a byte order mark is left out. */
  def lines(path: Path): Vector[String] =
    val text = String(bytes(path), UTF_8)
    val broken = text.indexOf('�')
    if broken >= 0 then
      val line = text.take(broken).count(_ == '\n') + 1
      throw BadInput(s"$path:$line", "this is not UTF-8 text.", "Save the file as UTF-8.")
    text.stripPrefix("\uFEFF").linesIterator.toVector
