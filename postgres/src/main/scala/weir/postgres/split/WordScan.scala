package weir.postgres.split

import java.lang.invoke.{MethodHandles, VarHandle}
import java.nio.ByteOrder

/** Eight bytes at a time: which of them equal a given one. */
private[postgres] object WordScan:
  final val Newlines = 0x0a0a0a0a0a0a0a0aL
  final val Backslashes = 0x5c5c5c5c5c5c5c5cL
  final val Dots = 0x2e2e2e2e2e2e2e2eL
  private final val Sevens = 0x7f7f7f7f7f7f7f7fL
  private final val Ones = 0x0101010101010101L

  private val longs: VarHandle =
    MethodHandles.byteArrayViewVarHandle(classOf[Array[Long]], ByteOrder.LITTLE_ENDIAN)

  /** Returns the bytes from `at` on, the first one lowest. */
  def load(bytes: Array[Byte], at: Int): Long = longs.get(bytes, at): Long

  /** The highest bit of each byte of `word` that equals the one in `pattern`, and no other bit: the
    * sum below cannot carry from one byte into the next.
    */
  def matches(word: Long, pattern: Long): Long =
    val differing = word ^ pattern
    ~(((differing & Sevens) + Sevens) | differing | Sevens)

  /** Returns the number of bytes that `matches` has marked. A multiplication adds them up:
    * `Long.bitCount` is one instruction only for the better compiler, without which `weir sql`
    * runs.
    */
  def count(marks: Long): Int = (((marks >>> 7) * Ones) >>> 56).toInt

  /** Returns the index of the first `char`, which is ASCII; -1 if there is none. */
  def indexOf(bytes: Array[Byte], char: Char): Int =
    val pattern = char * Ones
    var i = 0
    while i <= bytes.length - 8 && matches(load(bytes, i), pattern) == 0 do i += 8
    while i < bytes.length && bytes(i) != char do i += 1
    if i < bytes.length then i else -1

  def newlines(bytes: Array[Byte], from: Int, to: Int): Int =
    var sum = 0
    var i = from
    while i <= to - 8 do
      sum += count(matches(load(bytes, i), Newlines))
      i += 8
    while i < to do
      if bytes(i) == '\n' then sum += 1
      i += 1
    sum

  /** Returns the number of characters that begin in the range: all bytes but those that continue a
    * character in UTF-8, 10xxxxxx.
    */
  def characters(bytes: Array[Byte], from: Int, to: Int): Int =
    var continuing = 0
    var i = from
    while i <= to - 8 do
      val word = load(bytes, i)
      continuing += java.lang.Long.bitCount((word >>> 7) & ~(word >>> 6) & Ones)
      i += 8
    while i < to do
      if (bytes(i) & 0xc0) == 0x80 then continuing += 1
      i += 1
    to - from - continuing
