package weir.postgres.split

import java.util.Locale

/** Follows the settings of a session that decide how its statements are read, by the words of the
  * statements: SET, RESET, DISCARD, and those that begin and end transactions.
  *
  * It does not see errors, savepoints, functions and values with escapes. So where a statement
  * leaves a doubt the reader waits, until the sender of the statements has called `follow`. The
  * sender also compares the `Reading` of each statement with the session's.
  *
  * @param begun
  *   those with which the session begins, which RESET sets again
  * @param isInTransaction
  *   true if the first statement is in a transaction
  */
private[postgres] final class FollowedSettings(
    begun: Reading = Reading.standard,
    isInTransaction: Boolean = false
):
  import FollowedSettings.*

  private var initial = begun
  private var current = initial
  private var afterCommit = initial // differs after SET LOCAL
  private var afterRollback: Reading | Null = if isInTransaction then initial else null
  private var isTouched = false // in the open transaction
  private var inDoubt = false

  def now: Reading = current

  /** Returns true if an error of the next statement would take settings back. */
  def mayFallBack: Boolean = isTouched

  /** The session has these settings, now that all statements have run. */
  def follow(reading: Reading): Unit =
    current = reading
    if afterRollback eq null then afterCommit = reading

  /** Another session begins with these settings, once the one before has ended. */
  def beginSession(reading: Reading = begun): Unit =
    initial = reading
    end(reading)

  /** A statement has been read, which begins with one of the words that matter. Returns true if the
    * session may have other settings after it than it says: it changes them, or ends a transaction
    * that has.
    */
  def executed(statement: Array[Byte]): Boolean =
    val before = current
    inDoubt = false
    carryOut(statement)
    inDoubt || current != before

  private def carryOut(statement: Array[Byte]): Unit =
    val words = Tokens.leading(statement, 4)
    val chains = words.endsWith(List("AND", "CHAIN"))
    words match
      case "SET" :: _ => set(statement)
      case "RESET" :: "ALL" :: _ | "DISCARD" :: "ALL" :: _ => change(false)(_ => initial)
      case "RESET" :: name :: _ => assign(Assignment(name.toLowerCase(Locale.ROOT), None, false))
      case ("COMMIT" | "ROLLBACK") :: "PREPARED" :: _ => ()
      case ("BEGIN" | "START") :: _ => if afterRollback eq null then afterRollback = afterCommit
      case ("COMMIT" | "END") :: _ | "PREPARE" :: "TRANSACTION" :: _ => end(afterCommit, chains)
      case "ROLLBACK" :: "TO" :: _ | "ROLLBACK" :: _ :: "TO" :: _ => inDoubt = isTouched
      case ("ROLLBACK" | "ABORT") :: _ =>
        val before = afterRollback
        end(if before eq null then afterCommit else before, chains)
      case _ => ()

  /** @param chains
    *   the next transaction begins at once
    */
  private def end(next: Reading, chains: Boolean = false): Unit =
    current = next
    afterCommit = next
    afterRollback = if chains then next else null
    inDoubt = isTouched
    isTouched = false

  private def set(statement: Array[Byte]): Unit =
    for assignment <- assignmentOf(statement) do assign(assignment)

  private def assign(to: Assignment): Unit =
    if !to.isLocal || (afterRollback ne null) then
      to.name match
        case "client_encoding" | "names" =>
          change(to.isLocal)(_.in(to.value.getOrElse(initial.encoding)))
        case "standard_conforming_strings" =>
          for isOn <- to.value.fold(Option(initial.standardStrings))(boolean) do
            change(to.isLocal)(_.copy(standardStrings = isOn))
        case _ => ()

  private def change(isLocal: Boolean)(to: Reading => Reading): Unit =
    val before = current
    current = to(before)
    isTouched ||= (afterRollback ne null) && current != before
    if !isLocal then afterCommit = to(afterCommit)

private[postgres] object FollowedSettings:
  /** @param value
    *   none for DEFAULT
    */
  private final case class Assignment(name: String, value: Option[String], isLocal: Boolean)

  /** Reads `SET [LOCAL | SESSION] name {= | TO} value`, or `SET [LOCAL | SESSION] NAMES value`. */
  private def assignmentOf(statement: Array[Byte]): Option[Assignment] =
    val tokens = Tokens(statement)
    tokens.next(): Unit // SET
    tokens.next(): Unit
    val isLocal = tokens.word == "LOCAL"
    if isLocal || tokens.word == "SESSION" then tokens.next(): Unit
    val name = tokens.name.toLowerCase(Locale.ROOT)
    val isNamed = !tokens.hasEscapes && name.nonEmpty &&
      (name == "names" && tokens.isWord || tokens.next() && (tokens.is('=') || tokens.word == "TO"))
    if !isNamed then None
    else if !tokens.next() then Option.when(name == "names")(Assignment(name, None, isLocal))
    else if tokens.word == "DEFAULT" then Some(Assignment(name, None, isLocal))
    else value(tokens).map(value => Assignment(name, Some(value), isLocal))

  /** Strings that follow one another are one. */
  private def value(tokens: Tokens): Option[String] =
    var text = tokens.value
    var isPlain = !tokens.hasEscapes
    if tokens.isString then
      while tokens.next() && tokens.isString do
        text += tokens.value
        isPlain &&= !tokens.hasEscapes
    Option.when(isPlain)(text)

  /** Returns the boolean that the server takes the text for: the beginnings of words, too. */
  private def boolean(value: String): Option[Boolean] =
    val lower = value.toLowerCase(Locale.ROOT)
    def begins(word: String) = lower.nonEmpty && word.startsWith(lower)
    if lower == "on" || lower == "1" || begins("true") || begins("yes") then Some(true)
    else if lower == "0" || lower == "of" || lower == "off" || begins("false") || begins("no") then
      Some(false)
    else None
