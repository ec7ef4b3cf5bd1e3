package weir.postgres.split

/** Classifies a statement by its words, to find out where it ends: it may have a `BEGIN ATOMIC`
  * body, or be a `COPY … FROM STDIN`.
  *
  * A body is looked for where a statement begins with `CREATE [OR REPLACE] {FUNCTION | PROCEDURE}`,
  * outside of parentheses. It ends with the `END` that is not one of a `CASE`. A copy has COPY as
  * its first word, and among the first eight unquoted ones outside of parentheses FROM with STDIN
  * after it (or STDOUT, which the server takes for the same).
  */
private[split] final class StatementClassifier:
  private var count = 0 // identifiers
  private var outside = 0 // identifiers outside of parentheses
  private var function =
    0 // how many of the words that begin a function have been read; IsFunction after all
  private var first = Keyword.Unknown
  private var last = Keyword.Unknown // the token before, if it was a word outside of parentheses
  private var lastAt = 0

  private var depth = 0 // of the body, and of CASE in it
  var bodyAt = 0
  var isCopy = false

  def begin(): Unit =
    count = 0
    outside = 0
    function = 0
    first = Keyword.Unknown
    last = Keyword.Unknown
    depth = 0
    isCopy = false

  def inBody: Boolean = depth > 0

  /** Returns true if the statement may change the settings that decide how statements are read. */
  def changesReading: Boolean = first match
    case Keyword.Set | Keyword.Reset | Keyword.Discard => true
    case Keyword.Begin | Keyword.Start | Keyword.Commit | Keyword.End => true
    case Keyword.Rollback | Keyword.Abort | Keyword.Prepare => true
    case _ => false

  /** Returns true if further words can change the result. */
  def wantsWords: Boolean =
    first match
      case Keyword.Create =>
        function == StatementClassifier.IsFunction || count < StatementClassifier.FunctionWords
      case Keyword.Copy => outside < StatementClassifier.CopyWords
      case _ => count == 0

  /** Reads a token that is no word. */
  def other(): Unit = last = Keyword.Unknown

  /** Reads a word, which begins at `at` in the text. */
  def word(keyword: Keyword, at: Int, parenthesised: Boolean): Unit =
    if count == 0 then first = keyword
    if first == Keyword.Create then function = StatementClassifier.after(function, count, keyword)
    count += 1
    if !parenthesised then
      outside += 1
      if function == StatementClassifier.IsFunction then body(keyword)
      else if first == Keyword.Copy && outside <= StatementClassifier.CopyWords then
        if last == Keyword.From && (keyword == Keyword.Stdin || keyword == Keyword.Stdout) then
          isCopy = true
      last = keyword
      lastAt = at
    else other()

  private def body(keyword: Keyword): Unit = keyword match
    case Keyword.Atomic if last == Keyword.Begin && depth == 0 =>
      depth = 1
      bodyAt = lastAt
    case Keyword.Case if depth > 0 => depth += 1
    case Keyword.End if depth > 0 => depth -= 1
    case _ => ()

private[split] object StatementClassifier:
  private final val CopyWords = 8
  private final val FunctionWords = 4 // CREATE OR REPLACE FUNCTION
  private final val IsFunction = -1

  /** Returns the number of words of CREATE, OR, REPLACE that have come in that order, once
    * `keyword` is the identifier number `index`.
    */
  private def after(function: Int, index: Int, keyword: Keyword): Int =
    if function == IsFunction then IsFunction
    else if function != index then function
    else
      keyword match
        case Keyword.Create if index == 0 => 1
        case Keyword.Or if index == 1 => 2
        case Keyword.Replace if index == 2 => 3
        case Keyword.Function | Keyword.Procedure if index == 1 || index == 3 => IsFunction
        case _ => index
