package weir.postgres.split

import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.mutable.ListBuffer
import scala.util.matching.Regex
import weir.postgres.Position
import weir.postgres.split.Splits.Part

/** Splits a script with regular expressions over the whole of it: slow, and independent of the
  * splitter, except for the settings that are refused.
  */
object NaiveSplitter:
  /** The error at a command: it knows none but `\restrict` and `\unrestrict`. */
  val unknown = "a command"

  def apply(script: Array[Byte]): Splits = new Reading(script).result()

  private final class Failed(val at: Int, val problem: String) extends RuntimeException

  private val letter = "[A-Za-z_\\x80-\\xff]"
  private val gap = "(?:[ \\t\\f]|--[^\\n\\r]*)*+[\\n\\r](?:[ \\t\\n\\r\\f]|--[^\\n\\r]*[\\n\\r])*+"
  private val space = "[ \\t\\n\\r\\f]+".r
  private val line = "--[^\\n\\r]*".r
  private val escape = s"[eE]'(?:[^'\\\\]|\\\\[\\s\\S]|''|'$gap')*+'".r
  private val string = "'(?:[^']|'')*+'".r
  private val quoted = "\"(?:[^\"]|\"\")*+\"".r
  private val dollar = s"\\$$(?:$letter(?:$letter|[0-9])*)?\\$$".r
  private val parameter = s"\\$$[0-9]+$letter?".r
  private val number =
    (s"(?:[0-9]++(?!\\.\\.)(?:\\.[0-9]*)?|[0-9]++|\\.[0-9]+)" +
      s"(?:[eE][-+]?[0-9]+$letter?|[eE][-+]|$letter)?").r
  private val word = s"$letter(?:$letter|[0-9$$])*".r

  private final class Reading(script: Array[Byte]):
    // what is left to read, and the position of each of its bytes in the script
    private var chars = Splits.latin(script)
    private var offsets = script.indices.toVector
    private var i = 0

    private val parts = ListBuffer[Part]()
    private var text = Vector.empty[Int] // offsets
    private var tokens = List.empty[String] // the last one first; a word in small letters
    private var words = List.empty[String] // the same, all words since the last \;
    private var parentheses = List.empty[Int]
    private var bodies = List.empty[Int]
    private var part = 0 // of the text
    private var joined, copies = false

    def result(): Splits =
      try
        preamble()
        while i < chars.length do token()
        finish()
        Splits(parts.toList, None)
      catch case e: Failed => Splits(parts.toList, Some(s"s.sql:${position(e.at)}: ${e.problem}"))

    private def preamble(): Unit =
      if chars.startsWith("PGDMP") then fail(0, "a custom-format dump, not an SQL script")
      if chars.startsWith("\u00ff\u00fe\u0000\u0000") || chars.startsWith(
          "\u0000\u0000\u00fe\u00ff"
        )
      then fail(0, "a UTF-32 file, by its byte-order mark")
      if chars.startsWith("\u00fe\u00ff") || chars.startsWith("\u00ff\u00fe") then
        fail(0, "a UTF-16 file, by its byte-order mark")
      if chars.startsWith("\u00ef\u00bb\u00bf") then i = 3

    private def at(index: Int): Int =
      if index < offsets.length then offsets(index) else script.length

    private def fail(offset: Int, problem: String): Nothing = throw Failed(offset, problem)

    private def nul(from: Int, to: Int): Unit =
      val found = chars.indexOf(0, from)
      if found >= 0 && found < to then fail(at(found), "a NUL byte, which no SQL text may hold")

    private def matched(regex: Regex): Option[Int] =
      regex.findPrefixOf(chars.substring(i)).map(_.length)

    /** A token that opens here ends after `length` bytes, if it does. */
    private def closed(length: Option[Int], what: String): Unit =
      val end = length.fold(chars.length)(i + _)
      nul(i, end)
      if length.isEmpty then fail(at(i), s"unterminated $what")
      take(length.get, "")

    /** The next bytes belong to the text. A token that is no word has the name "". */
    private def take(length: Int, name: String | Null): Unit =
      text ++= offsets.slice(i, i + length)
      if name ne null then tokens = name.nn :: tokens
      i += length

    private def token(): Unit =
      val c = chars(i)
      val two = chars.slice(i, i + 2)
      if " \t\n\r\f".contains(c) then blank(matched(space).get)
      else if two == "--" then
        nul(i, i + matched(line).get)
        blank(matched(line).get)
      else if two == "/*" then
        val length = comment()
        nul(i, length.fold(chars.length)(i + _))
        if length.isEmpty then fail(at(i), "unterminated comment")
        take(length.get, null)
      else if c == '\\' then backslash()
      else if c == ';' && parentheses.isEmpty && bodies.isEmpty then
        end()
        i += 1
        if copies then copy()
        clear()
      else if two.toLowerCase == "e'" then closed(matched(escape), "string literal")
      else if c == '\'' then closed(matched(string), "string literal")
      else if c == '"' then closed(matched(quoted), "quoted identifier")
      else if matched(dollar).isDefined then
        val tag = chars.substring(i, i + matched(dollar).get)
        val end = chars.indexOf(tag, i + tag.length)
        val named = String(tag.getBytes("ISO-8859-1"), UTF_8)
        closed(Option.when(end >= 0)(end + tag.length - i), s"dollar-quoted string $named")
      else if matched(parameter).isDefined then take(matched(parameter).get, "")
      else if two == ".." then take(2, "")
      else if matched(number).isDefined then take(matched(number).get, "")
      else if matched(word).isDefined then identifier(matched(word).get)
      else
        nul(i, i + 1)
        if c == '(' then parentheses = i :: parentheses
        if c == '(' && parentheses.size == 1 then parentheses = List(text.size)
        if c == ')' then parentheses = parentheses.drop(1)
        take(1, if c == ';' then ";" else "")

    private def blank(length: Int): Unit = if text.isEmpty then i += length else take(length, null)

    private def comment(): Option[Int] =
      var depth = 1
      var j = i + 2
      while depth > 0 && j < chars.length do
        val two = chars.slice(j, j + 2)
        if two == "/*" then depth += 1
        if two == "*/" then depth -= 1
        j += (if two == "/*" || two == "*/" then 2 else 1)
      Option.when(depth == 0)(j - i)

    private def identifier(length: Int): Unit =
      val name = chars.substring(i, i + length).map(c => if c < 128 then c.toLower else c)
      words = name :: words
      val first = words.reverse.take(4)
      val function = first match
        case "create" :: ("function" | "procedure") :: _ => true
        case "create" :: "or" :: "replace" :: ("function" | "procedure") :: _ => true
        case _ => false
      val before = tokens.headOption.getOrElse("")
      if function && parentheses.isEmpty then
        if name == "atomic" && before.startsWith("begin@") && bodies.isEmpty then
          bodies = List(before.drop(6).toInt)
        else if name == "case" && bodies.nonEmpty then bodies = 0 :: bodies
        else if name == "end" && bodies.nonEmpty then bodies = bodies.drop(1)
      val outside = if parentheses.isEmpty then name else s"($name"
      if outside == name then outsides += 1
      if first.head == "copy" && outsides <= 8 && before == "from" && Set("stdin", "stdout")(
          outside
        )
      then copies = true
      take(length, if outside == "begin" then s"begin@${text.size}" else outside)

    private var outsides = 0
    private var restriction = Option.empty[String]

    private def backslash(): Unit =
      val next = chars.slice(i + 1, i + 2)
      if next == ":" then
        i += 1
        take(1, "")
      else if next == ";" then
        i += 1
        if parentheses.isEmpty && bodies.isEmpty then
          checkPart()
          joined = true
          part = text.size + 1
          if !copies then
            words = Nil
            outsides = 0
        take(1, ";")
      else
        val end = chars.indexOf('\n', i)
        val to = if end < 0 then chars.length else end
        nul(i, to)
        val command = String(chars.substring(i + 1, to).getBytes("ISO-8859-1"), UTF_8)
        val name = command.takeWhile(c => !" \t\n\r\f\\".contains(c))
        if name == "." then fail(at(i), "end-of-copy marker outside COPY data")
        if restriction.nonEmpty && name != "unrestrict" then
          fail(at(i), s"the command \\$name after \\restrict")
        if name != "restrict" && name != "unrestrict" then fail(at(i), NaiveSplitter.unknown)
        if !command.drop(name.length).trim.matches("[A-Za-z0-9]+") then
          fail(
            at(i),
            s"\\$name takes one word of letters and digits, and nothing more on its line"
          )
        val key = command.drop(name.length).trim
        if name == "unrestrict" && !restriction.contains(key) then
          fail(at(i), "\\unrestrict without its \\restrict, or with another word")
        restriction = Option.when(name == "restrict")(key)
        i = to

    private def checkPart(): Unit =
      if words.lastOption.contains("set") then
        val settings = FollowedSettings()
        settings.executed(text.drop(part).map(script).toArray)
        if settings.now != FollowedSettings().now then
          fail(text.applyOrElse(part, _ => script.length), NaiveSplitter.unknown)

    private def end(): Unit =
      checkPart()
      if tokens.exists(_ != ";") then
        val bytes = text.map(script).toArray
        if copies && joined then
          fail(text.head, "COPY … FROM STDIN is joined with other statements by \\;")
        if copies then parts += Part.Copy(Splits.latin(bytes), position(text.head), "", None)
        else
          parts += Part.Statement(
            Splits.latin(bytes),
            position(text.head),
            text.map(position).toList
          )

    private def clear(): Unit =
      text = Vector.empty
      tokens = Nil
      words = Nil
      outsides = 0
      parentheses = Nil
      bodies = Nil
      part = 0
      joined = false
      copies = false

    /** Takes the data out of what is left to read. */
    private def copy(): Unit =
      val newline = chars.indexOf('\n', i)
      val from = if newline < 0 then chars.length else newline + 1
      var lineFrom = from
      var to = -1
      var after = chars.length
      while to < 0 && lineFrom < chars.length do
        val end = chars.indexOf('\n', lineFrom)
        val line = chars.substring(lineFrom, if end < 0 then chars.length else end)
        if line == "\\." || line == "\\.\r" then
          to = lineFrom
          if end >= 0 then after = end + 1
        lineFrom = if end < 0 then chars.length else end + 1
      val begun = parts.last.asInstanceOf[Part.Copy]
      val data = chars.substring(from, if to < 0 then chars.length else to)
      val end = Option.when(to >= 0)(position(at(to)))
      parts(parts.length - 1) = begun.copy(data = data, end = end)
      if end.isEmpty then fail(begun.start.offset.toInt, "COPY data not ended by \\.")
      chars = chars.substring(i, from) + chars.substring(after)
      offsets = offsets.slice(i, from) ++ offsets.drop(after)
      i = 0

    private def finish(): Unit =
      if parentheses.nonEmpty then fail(text(parentheses.last), "unclosed \"(\"")
      if bodies.nonEmpty then fail(text(bodies.last), "unclosed BEGIN ATOMIC")
      end()
      if copies then copy()

    private val positions: Vector[Position] =
      val first = if Splits.latin(script).startsWith("\u00ef\u00bb\u00bf") then 0 else 1
      script.indices.toVector.scanLeft(Position(0, 1, first)) { (before, i) =>
        if script(i) == '\n' then Position(i + 1, before.line + 1, 1)
        else if (script(i) & 0xc0) == 0x80 then before.copy(offset = i + 1)
        else Position(i + 1, before.line, before.column + 1)
      }

    private def position(offset: Int): Position =
      if offset == 0 then Position.start else positions(offset)
