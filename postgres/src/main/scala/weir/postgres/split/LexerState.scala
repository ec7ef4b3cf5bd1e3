package weir.postgres.split

/** The states of `TokenScanner`. Beside each is psql's: the start condition of psqlscan.l (version
  * 15) and, where one condition is several states here, the rule that is half read.
  */
private[split] object LexerState:
  final val Plain = 0 // INITIAL
  final val InWord = 1 // INITIAL, identifier

  final val InString = 2 // xq; also xb, xh and xus, which end in the same way
  final val StringQuote = 3 // xqs
  final val InQuoted = 4 // xd; also xui
  final val QuotedQuote = 5 // xd, xddouble
  final val InEscape = 6 // xe
  final val EscapeBackslash = 7 // xe, xeescape
  final val EscapeQuote = 8 // xqs after xe
  final val EscapeGap = 9 // xqs after xe, quotecontinue
  final val EscapeGapDash = 10 // xqs after xe, quotecontinue: a comment may begin
  final val EscapeGapLine = 11 // xqs after xe, quotecontinue: in a comment

  final val DollarOpen = 12 // INITIAL, dolqdelim
  final val InDollar = 13 // xdolq
  final val DollarClose = 14 // xdolq, dolqdelim

  final val Dash = 15 // INITIAL, comment: after the first dash
  final val InLine = 16 // INITIAL, comment
  final val Slash = 17 // INITIAL, xcstart
  final val InBlock = 18 // xc
  final val BlockStar = 19 // xc, xcstop
  final val BlockSlash = 20 // xc, xcstart

  final val Number = 21 // INITIAL, integer
  final val NumberDot = 22 // INITIAL, decimal or decimalfail
  final val Dot = 23 // INITIAL, decimal or dot_dot
  final val Fraction = 24 // INITIAL, decimal
  final val Exponent = 25 // INITIAL, real
  final val SignedExponent = 26 // INITIAL, real or realfail
  final val Digits = 27 // INITIAL, param; real, in its exponent

  // INITIAL, the rules of variables
  final val Colon = 28
  final val ColonName = 29 // :name
  final val ColonText = 30 // :'name'
  final val ColonQuoted = 31 // :"name"
  final val ColonBrace = 32 // :{
  final val ColonTest = 33 // :{?name}
