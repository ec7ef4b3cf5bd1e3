package weir.program

import java.nio.file.{Files, InvalidPathException, Path}
import java.util.regex.PatternSyntaxException
import scala.concurrent.duration.*
import scala.util.matching.Regex

/** Parses the values of options. Each method **fails** with a [[BadInput]] that names the option.
  */
object OptionValue:
  /** Returns the whole number that `text` is, from `least` to `most`. */
  def number(option: String, text: String, least: Long, most: Long): Long =
    text.trim.toLongOption match
      case Some(number) if number >= least && number <= most => number
      case Some(_) =>
        throw BadInput(option, s"$text is out of range.", s"It must be from $least to $most.")
      case None =>
        throw BadInput(option, s"'$text' is not a whole number.", s"Give one, at least $least.")

  def count(option: String, text: String, least: Int, most: Int): Int =
    number(option, text, least, most).toInt

  /** Returns the value that the word `text` means. */
  def choice[A](option: String, text: String, choices: (String, A)*): A =
    choices.toMap.getOrElse(
      text,
      throw BadInput(
        option,
        s"'$text' is unknown.",
        s"It must be ${choices.map(_._1).mkString(" or ")}."
      )
    )

  /** Returns the duration that `text` is, which must not be zero. */
  def positive(option: String, text: String): FiniteDuration =
    val duration = DurationText.parse(option, text)
    if duration == Duration.Zero then
      throw BadInput(option, s"$text is no time at all.", "It must be at least 1ms.")
    duration

  def factor(option: String, text: String): Double =
    text.toDoubleOption
      .filter(factor => factor >= 0.1 && factor <= 1000)
      .getOrElse(throw BadInput(option, s"'$text' is no factor.", "It must be from 0.1 to 1000."))

  def regex(option: String, text: String): Regex =
    try text.r
    catch
      case bad: PatternSyntaxException =>
        val problem = s"'$text' is no regular expression (${bad.getDescription})."
        throw BadInput(option, problem, "A plain word is one.")

  def path(option: String, text: String): Path =
    try Path.of(text)
    catch
      case bad: InvalidPathException =>
        throw BadInput(option, s"'$text' is no path (${bad.getReason}).", "Name a file.")

  /** A path that a file can be written to, as far as can be found out without writing it. */
  def target(option: String, text: String): Path =
    val file = path(option, text)
    val folder = file.toAbsolutePath.getParent
    if Files.isDirectory(file) then
      throw BadInput(s"$option $text", "this is a folder, not a file.", "Name a file inside it.")
    if folder == null || !Files.isDirectory(folder) then
      throw BadInput(s"$option $text", s"there is no folder $folder.", "Create it first.")
    if !Files.isWritable(if Files.exists(file) then file else folder) then
      throw BadInput(s"$option $text", "it may not be written.", "Name a file that may.")
    file
