package weir.postgres.psql

import java.util.Locale

/** psql's special variables: the values that they may have, and the ones that they begin with.
  *
  * @param unset
  *   the value after `\unset`, where psql has one
  */
private[postgres] enum Special(val unset: String | Null, val initial: String):
  case Bool(first: String) extends Special("off", first)
  case Words(first: String, all: String*) extends Special(first, first)
  case WordsOrBool(word: String) extends Special("off", "off")
  case Number(first: String) extends Special(first, first)
  case Text(first: String) extends Special(null, first)

  /** Returns the value that the variable gets. **Fails** with a `CommandProblem` if `value` is none
    * for it.
    */
  def checked(name: String, value: String): String = this match
    case Bool(_) => bool(name, value)
    case Words(_, all*) =>
      if !all.contains(lower(value)) then unknown(name, value, all.mkString(", "))
      value
    case WordsOrBool(word) => if lower(value) == word then value else bool(name, value)
    case Number(_) =>
      if Special.number(value).isEmpty then
        if name == "IGNOREEOF" then "10" else unknown(name, value, "an integer")
      else value
    case Text(_) => value

  private def bool(name: String, value: String): String =
    if value.isEmpty then "on"
    else if Special.boolean(value).isEmpty then unknown(name, value, "on, off")
    else value

  private def lower(value: String) = value.toLowerCase(Locale.ROOT)

  private def unknown(name: String, value: String, known: String): Nothing =
    throw CommandProblem(s"\"$value\" is no value of the variable $name", s"It takes: $known.")

private[postgres] object Special:
  val all: Map[String, Special] = Map(
    "AUTOCOMMIT" -> Bool("on"),
    "COMP_KEYWORD_CASE" ->
      Words("preserve-upper", "preserve-upper", "preserve-lower", "upper", "lower"),
    "ECHO" -> Words("none", "none", "errors", "queries", "all"),
    "ECHO_HIDDEN" -> WordsOrBool("noexec"),
    "FETCH_COUNT" -> Number("0"),
    "HIDE_TABLEAM" -> Bool("off"),
    "HIDE_TOAST_COMPRESSION" -> Bool("off"),
    "HISTCONTROL" -> Words("none", "none", "ignorespace", "ignoredups", "ignoreboth"),
    "HISTSIZE" -> Number("500"),
    "IGNOREEOF" -> Number("0"),
    "ON_ERROR_ROLLBACK" -> WordsOrBool("interactive"),
    "ON_ERROR_STOP" -> Bool("on"), // what weir begins with
    "PROMPT1" -> Text("%/%R%x%# "),
    "PROMPT2" -> Text("%/%R%x%# "),
    "PROMPT3" -> Text(">> "),
    "QUIET" -> Bool("on"), // as with psql -q
    "SHOW_ALL_RESULTS" -> Bool("on"),
    "SHOW_CONTEXT" -> Words("errors", "never", "errors", "always"),
    "SINGLELINE" -> Bool("off"),
    "SINGLESTEP" -> Bool("off"),
    "VERBOSITY" -> Words("default", "default", "verbose", "terse", "sqlstate")
  )

  /** The boolean that psql reads in `value`; it takes the beginnings of words, too. */
  def boolean(value: String): Option[Boolean] =
    val lower = value.toLowerCase(Locale.ROOT)
    def begins(word: String) = lower.nonEmpty && word.startsWith(lower)
    if begins("true") || begins("yes") || lower == "on" || lower == "1" then Some(true)
    else if begins("false") || begins("no") || lower == "off" || lower == "of" || lower == "0" then
      Some(false)
    else None

  /** Returns true if a variable of this value, null if it is not set, counts as on. */
  def isOn(value: String | Null): Boolean =
    (value ne null) && !boolean(value).contains(false)

  /** The integer that C's `strtol` reads in `value`, in any base. */
  private def number(value: String): Option[Int] =
    try Some(Integer.decode(value.trim).intValue)
    catch case _: NumberFormatException => None
