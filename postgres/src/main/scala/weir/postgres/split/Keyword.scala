package weir.postgres.split

/** The words that decide where a statement ends, and how the next one is read. */
private[split] enum Keyword(val word: String):
  case Create extends Keyword("create")
  case Or extends Keyword("or")
  case Replace extends Keyword("replace")
  case Function extends Keyword("function")
  case Procedure extends Keyword("procedure")
  case Begin extends Keyword("begin")
  case Atomic extends Keyword("atomic")
  case Case extends Keyword("case")
  case End extends Keyword("end")
  case Copy extends Keyword("copy")
  case From extends Keyword("from")
  case Stdin extends Keyword("stdin")
  case Stdout extends Keyword("stdout")
  case Set extends Keyword("set")
  case Reset extends Keyword("reset")
  case Discard extends Keyword("discard")
  case Start extends Keyword("start")
  case Commit extends Keyword("commit")
  case Rollback extends Keyword("rollback")
  case Abort extends Keyword("abort")
  case Prepare extends Keyword("prepare")
  case Unknown extends Keyword("")

private[split] object Keyword:
  val longest: Int = Keyword.values.map(_.word.length).max

  private val byLength: Array[Array[Keyword]] =
    Array.tabulate(longest + 1)(length =>
      values.filter(k => k != Unknown && k.word.length == length)
    )

  /** The keyword that the bytes are, in letters of any case, or `Unknown`. */
  def of(bytes: Array[Byte], from: Int, to: Int): Keyword =
    val length = to - from
    if length > longest then Unknown
    else
      val candidates = byLength(length)
      var i = 0
      while i < candidates.length && !isWord(bytes, from, candidates(i).word) do i += 1
      if i < candidates.length then candidates(i) else Unknown

  private def isWord(bytes: Array[Byte], from: Int, word: String): Boolean =
    var i = 0
    while i < word.length && lower(bytes(from + i)) == word.charAt(i) do i += 1
    i == word.length

  private def lower(byte: Byte): Int = if byte >= 'A' && byte <= 'Z' then byte + 32 else byte.toInt
