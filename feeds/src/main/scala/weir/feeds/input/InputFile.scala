package weir.feeds.input

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import weir.program.{BadInput, ByteSize}

/** Reads a file that the user named, whole, with an error that names the file. `-` is the standard
  * input.
  */
object InputFile:
  private val standardInput = Path.of("-")

  /** More than any list of feeds needs: a million URLs of 60 characters. */
  private val limitBytes = 64_000_000L

  /** Returns the bytes of `path`.
    *
    * **Fails** with [[BadInput]] if it is missing, a folder, not readable or too large.
    */
  def bytes(path: Path): Array[Byte] =
    def bad(problem: String, hint: String) = throw BadInput(path.toString, problem, hint)
    BadInput.whileReading(path.toString):
      if path == standardInput then
        val all = System.in.readNBytes(limitBytes.toInt + 1)
        if all.length > limitBytes then tooLarge(bad) else all
      else if Files.isDirectory(path) then
        bad("this is a folder, not a file.", "Name the file inside it.")
      else if Files.size(path) > limitBytes then tooLarge(bad)
      else Files.readAllBytes(path)

  private def tooLarge(bad: (String, String) => Nothing): Nothing =
    bad(s"it is larger than ${ByteSize.show(limitBytes)}.", "Split it and run once for each.")

  /** Reads the lines of `path`, with none for each line that is not UTF-8. If the file begins with
    * a byte order mark of UTF-16, it is read as UTF-16.
    */
  def lines(path: Path): Vector[Option[String]] =
    val content = bytes(path)
    InputText.marked(content).flatMap(InputText.strictly(content, _)) match
      case Some(text) => text.linesIterator.map(Some(_)).toVector
      case None => split(content).map(InputText.strictly(_, UTF_8))

  /** The bytes between line breaks; before a line feed, a carriage return stays. */
  private def split(content: Array[Byte]): Vector[Array[Byte]] =
    val breaks = content.indices.filter(at =>
      content(at) == '\n' || (content(at) == '\r' && !content.lift(at + 1).contains('\n'))
    ) :+ content.length
    (-1 +: breaks).zip(breaks).map((before, end) => content.slice(before + 1, end)).toVector
