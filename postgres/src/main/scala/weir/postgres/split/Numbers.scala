package weir.postgres.split

import LexerState.*
import scala.annotation.switch

/** Numbers and parameters. A letter that follows one belongs to it, so that no string begins with
  * it: `1e'\'` is a number and a string of one backslash.
  */
private[split] object Numbers:
  /** The number has ended before this byte, which begins another token. */
  final val Over = -1

  /** The state after `byte` in one of the states `Number` to `Digits`; `Plain` if the byte is the
    * last one of the number; `Over`.
    */
  def after(state: Int, byte: Byte): Int = (state: @switch) match
    case Number =>
      if byte == '.' then NumberDot
      else if ByteClass.of(byte) == ByteClass.Digit then Number
      else fraction(byte)
    case NumberDot => if byte == '.' then Plain else fraction(byte)
    case Dot =>
      if byte == '.' then Plain
      else if ByteClass.of(byte) == ByteClass.Digit then Fraction
      else Over
    case Fraction => fraction(byte)
    case Exponent => if byte == '+' || byte == '-' then SignedExponent else exponent(byte)
    case SignedExponent => exponent(byte)
    case Digits => digits(byte)

  /** After digits, of which no further dot is a part. */
  private def fraction(byte: Byte): Int = ByteClass.of(byte) match
    case ByteClass.Digit => Fraction
    case ByteClass.Letter => if byte == 'e' || byte == 'E' then Exponent else Plain
    case _ => Over

  private def exponent(byte: Byte): Int =
    if ByteClass.of(byte) == ByteClass.Digit then Digits else Over

  /** After digits of a parameter or of an exponent, of which neither a dot nor an exponent is a
    * part.
    */
  private def digits(byte: Byte): Int = ByteClass.of(byte) match
    case ByteClass.Digit => Digits
    case ByteClass.Letter => Plain
    case _ => Over
