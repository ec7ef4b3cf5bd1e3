package weir.cli.feeds.input

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

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
    BadInput.whileReading(path.toString):
      if Files.isDirectory(path) then
        bad("this is a folder, not a file.", "Name the file inside it.")
      else if Files.size(path) > limitBytes then
        bad(s"it is larger than ${ByteSize.show(limitBytes)}.", "Split it and run once for each.")
      else Files.readAllBytes(path)

  /** The lines of `path`, which must be UTF-8; a byte order mark is left out. */
  def lines(path: Path): Vector[String] =
    val text = String(bytes(path), UTF_8)
    val broken = text.indexOf('�')
    if broken >= 0 then
      val line = text.take(broken).count(_ == '\n') + 1
      throw BadInput(s"$path:$line", "this is not UTF-8 text.", "Save the file as UTF-8.")
    text.stripPrefix("\uFEFF").linesIterator.toVector
