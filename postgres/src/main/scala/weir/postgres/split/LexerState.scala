package weir.postgres.split

/** The states of the lexer, in the order of `Lexer.step`. Beside each is psql's: the start
  * condition of psqlscan.l (version 15) and, where one condition is several states here, the rule
  * that is half read.
  */
private[split] object LexerState:
  final val Between = 0 // INITIAL, no statement has begun
  final val Plain = 1 // INITIAL
  final val InWord = 2 // INITIAL, identifier

  final val InString = 3 // xq; also xb, xh and xus, which end in the same way
  final val StringQuote = 4 // xqs
  final val InQuoted = 5 // xd; also xui
  final val QuotedQuote = 6 // xd, xddouble
  final val InEscape = 7 // xe
  final val EscapeBackslash = 8 // xe, xeescape
  final val EscapeQuote = 9 // xqs after xe
  final val EscapeGap = 10 // xqs after xe, quotecontinue
  final val EscapeGapDash = 11 // xqs after xe, quotecontinue: a comment may begin
  final val EscapeGapLine = 12 // xqs after xe, quotecontinue: in a comment

  final val DollarOpen = 13 // INITIAL, dolqdelim
  final val InDollar = 14 // xdolq
  final val DollarClose = 15 // xdolq, dolqdelim

  final val Dash = 16 // INITIAL, comment: after the first dash
  final val LeadingLine = 17 // INITIAL, comment, before the first token of a statement
  final val InLine = 18 // INITIAL, comment
  final val Slash = 19 // INITIAL, xcstart
  final val InBlock = 20 // xc
  final val BlockStar = 21 // xc, xcstop
  final val BlockSlash = 22 // xc, xcstart

  final val Number = 23 // INITIAL, integer
  final val NumberDot = 24 // INITIAL, decimal or decimalfail
  final val Dot = 25 // INITIAL, decimal or dot_dot
  final val Fraction = 26 // INITIAL, decimal
  final val Exponent = 27 // INITIAL, real
  final val SignedExponent = 28 // INITIAL, real or realfail
  final val Digits = 29 // INITIAL, param; real, in its exponent

  final val Backslash = 30 // INITIAL, "\\"[;:]
  final val Meta = 31 // psqlscanslash.l, xslashcmd and xslasharg
