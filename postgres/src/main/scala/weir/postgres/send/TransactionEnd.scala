package weir.postgres.send

import java.nio.charset.StandardCharsets.ISO_8859_1

/** Whether a statement ends the transaction that it is in, by its first words. */
private[postgres] object TransactionEnd:

  /** The words that say so, or null. */
  def of(statement: Array[Byte]): String | Null =
    val words = firstWords(statement)
    words match
      case "COMMIT" :: "PREPARED" :: _ | "ROLLBACK" :: "PREPARED" :: _ => null // of another one
      case "ROLLBACK" :: "TO" :: _ => null // a savepoint
      case "ROLLBACK" :: ("WORK" | "TRANSACTION") :: "TO" :: _ => null
      case ("COMMIT" | "END" | "ROLLBACK" | "ABORT") :: _ => words.head
      case "PREPARE" :: "TRANSACTION" :: _ => "PREPARE TRANSACTION"
      case _ => null

  /** The first three, in upper case, comments left out. */
  private def firstWords(statement: Array[Byte]): List[String] =
    val text = String(statement, 0, math.min(statement.length, HeadBytes), ISO_8859_1)
    var at = 0
    var words = List.empty[String]
    while words.size < 3 && at >= 0 do
      at = afterSpace(text, at)
      var end = at
      while end < text.length && Character.isLetter(text.charAt(end)) do end += 1
      if end == at then at = -1
      else
        words = text.substring(at, end).toUpperCase(java.util.Locale.ROOT) :: words
        at = end
    words.reverse

  private def afterSpace(text: String, from: Int): Int =
    var at = from
    var goesOn = true
    while goesOn do
      if at < text.length && Character.isWhitespace(text.charAt(at)) then at += 1
      else if text.startsWith("--", at) then
        val end = text.indexWhere(c => c == '\n' || c == '\r', at)
        at = if end < 0 then text.length else end
      else if text.startsWith("/*", at) then at = afterComment(text, at)
      else goesOn = false
    at

  private def afterComment(text: String, from: Int): Int =
    var depth = 1
    var at = from + 2
    while depth > 0 && at < text.length do
      if text.startsWith("/*", at) then
        depth += 1
        at += 2
      else if text.startsWith("*/", at) then
        depth -= 1
        at += 2
      else at += 1
    at

  /** Comments longer than this before a COMMIT are not expected. */
  private val HeadBytes = 64 << 10
