package weir.postgres.split

import java.nio.charset.StandardCharsets.UTF_8

/** The tag of a dollar string, first while it opens, then while its end is looked for. */
private[split] final class DollarTag:
  private var bytes = new Array[Byte](64)
  private var matched = 0
  var length = 0

  def begin(): Unit = length = 0

  /** False if no tag goes on with `byte`. One never begins with a digit. */
  def take(byte: Byte): Boolean =
    val is = ByteClass.of(byte)
    val taken = is == ByteClass.Letter || is == ByteClass.Digit && length > 0
    if taken then
      if length == bytes.length then bytes = java.util.Arrays.copyOf(bytes, length * 2)
      bytes(length) = byte
      length += 1
    taken

  /** A `$` inside of the string, which may begin the tag that ends it. */
  def beginMatch(): Unit = matched = 0

  /** True if the whole tag has been matched. */
  def isMatched: Boolean = matched == length

  /** False if the tag does not go on with `byte`. */
  def matches(byte: Byte): Boolean =
    val same = matched < length && bytes(matched) == byte
    if same then matched += 1
    same

  /** Its first bytes, as many as there is room for; how many. */
  def copyTo(head: Array[Byte]): Int =
    val count = math.min(length, head.length)
    System.arraycopy(bytes, 0, head, 0, count)
    count

  override def toString: String = s"$$${String(bytes, 0, length, UTF_8)}$$"
