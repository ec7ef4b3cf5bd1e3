package weir.stream

import java.io.IOException
import java.nio.charset.{Charset, CoderResult}
import java.nio.{ByteBuffer, CharBuffer}
import weir.fiber.TaskFiber

/** Emits the lines of text that arrives as blocks of bytes. A line ends with `\n`, `\r` or both.
  *
  * Bytes that are not of the charset are an error at their place: the lines before them come first.
  */
private[weir] final class LinesStage(upstream: Pull, charset: Charset, source: String)
    extends Stage(upstream):
  private val decoder = charset.newDecoder()
  private var bytes = ByteBuffer.allocate(0)
  private val chars = CharBuffer.allocate(8192).limit(0)
  private val line = java.lang.StringBuilder()
  private var inLine = false
  private var number = 1L
  private var afterReturn = false
  private var noMoreBytes = false
  private var ended = false
  private var malformed: CoderResult | Null = null

  def next(fiber: TaskFiber): Any =
    var result: Any = null
    while result.asInstanceOf[AnyRef] eq null do
      if chars.hasRemaining then { if scan() then result = endLine() }
      else if malformed ne null then throw undecodable()
      else if !ended then fill(fiber)
      else if inLine then result = endLine()
      else result = Pull.End
    result

  /** Moves characters to `line`, up to its end. Returns true if the end was found. */
  private def scan(): Boolean =
    if afterReturn then
      afterReturn = false
      if chars.get(chars.position()) == '\n' then chars.position(chars.position() + 1): Unit
    val array = chars.array
    val from = chars.position()
    var at = from
    while at < chars.limit() && array(at) != '\n' && array(at) != '\r' do at += 1
    line.append(array, from, at - from): Unit
    val found = at < chars.limit()
    if found then afterReturn = array(at) == '\r'
    inLine = found || line.length > 0
    chars.position(if found then at + 1 else at): Unit
    found

  private def endLine(): String =
    val text = line.toString
    line.setLength(0)
    inLine = false
    number += 1
    text

  private def fill(fiber: TaskFiber): Unit =
    chars.clear(): Unit
    val result = decoder.decode(bytes, chars, noMoreBytes)
    if result.isError then malformed = result
    else if result.isUnderflow then
      if noMoreBytes then ended = decoder.flush(chars).isUnderflow
      else if chars.position() == 0 then moreBytes(fiber)
    chars.flip(): Unit

  private def moreBytes(fiber: TaskFiber): Unit =
    val value = upstream.next(fiber)
    if Pull.isEnd(value) then noMoreBytes = true
    else bytes = Undecoded.withBlock(bytes, value)

  private def undecodable(): IOException =
    Undecoded.error(malformed.nn, charset, s"$source, line $number: the bytes")
