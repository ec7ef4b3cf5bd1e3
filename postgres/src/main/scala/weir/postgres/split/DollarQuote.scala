package weir.postgres.split

import LexerState.*
import java.nio.charset.StandardCharsets.UTF_8

/** A dollar-quoted string: its tag is collected where it opens, and compared where it may close.
  *
  * `bytes` are those of the text with its characters masked, and decide what is a tag; `raw` are
  * those of the text, and are the tag.
  */
private[split] final class DollarQuote:
  private var tag = Array.emptyByteArray
  private var matched = 0 // bytes of the tag that have been found again
  var length = 0

  /** The state after `read`. */
  var state = DollarOpen

  /** A `$` has been read outside of strings. */
  def begin(): Unit = length = 0

  /** Reads on in one of the three states of a dollar string, and returns where it has stopped.
    * `state` is then one of these three, or:
    *
    *   - `Plain`: the string has ended, or the `$` was one token;
    *   - `Digits`: a parameter;
    *   - `InWord`: the bytes after the `$` are no tag but a word.
    *
    * Stops at a NUL byte in the string.
    */
  def read(in: Int, bytes: Array[Byte], raw: Array[Byte], from: Int, end: Int): Int =
    state = in
    in match
      case DollarOpen => open(bytes, raw, from, end)
      case InDollar => content(bytes, from, end)
      case DollarClose => close(bytes, raw, from)

  /** After a `$`: the tag of a string, or a parameter, or neither. */
  private def open(bytes: Array[Byte], raw: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && take(bytes(i), raw(i)) do i += 1
    if i == end then i
    else if bytes(i) == '$' then to(InDollar, i + 1)
    else if length > 0 then to(InWord, i)
    else if ByteClass.of(bytes(i)) == ByteClass.Digit then to(Digits, i + 1)
    else to(Plain, i)

  private def content(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && bytes(i) != '$' && bytes(i) != 0 do i += 1
    matched = 0
    if i < end && bytes(i) == '$' then to(DollarClose, i + 1) else i

  /** Handles the state after a `$` in the string. A `$` that ends no tag may begin the next tag. */
  private def close(bytes: Array[Byte], raw: Array[Byte], i: Int): Int =
    if bytes(i) == '$' then
      if matched == length then to(Plain, i + 1)
      else
        matched = 0
        i + 1
    else if matched < length && raw(i) == tag(matched) then
      matched += 1
      i + 1
    else to(InDollar, i)

  private def to(next: Int, index: Int): Int =
    state = next
    index

  /** False if no tag goes on with `byte`. A tag never begins with a digit. */
  private def take(byte: Byte, raw: Byte): Boolean =
    val is = ByteClass.of(byte)
    val taken = is == ByteClass.Letter || is == ByteClass.Digit && length > 0
    if taken then
      if length == tag.length then tag = java.util.Arrays.copyOf(tag, math.max(16, length * 2))
      tag(length) = raw
      length += 1
    taken

  /** Returns true if the bytes of the tag begin with an E, of either case. */
  def beginsWithE: Boolean = length > 0 && (tag(0) | 0x20) == 'e'

  override def toString: String = s"$$${String(tag, 0, length, UTF_8)}$$"
