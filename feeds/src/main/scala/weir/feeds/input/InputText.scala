package weir.feeds.input

import java.nio.ByteBuffer
import java.nio.charset.{CharacterCodingException, Charset, StandardCharsets}

/** The text of bytes whose encoding is known, or marked by the first of them. */
private[input] object InputText:
  private val marks = Vector(
    Vector(0xef, 0xbb, 0xbf) -> StandardCharsets.UTF_8,
    Vector(0xfe, 0xff) -> StandardCharsets.UTF_16BE,
    Vector(0xff, 0xfe) -> StandardCharsets.UTF_16LE,
    Vector(0x00, 0x3c) -> StandardCharsets.UTF_16BE,
    Vector(0x3c, 0x00) -> StandardCharsets.UTF_16LE
  )

  /** Returns the text of `bytes`, without a byte order mark; none if they are not in `encoding`. */
  def strictly(bytes: Array[Byte], encoding: Charset): Option[String] =
    try Some(encoding.newDecoder.decode(ByteBuffer.wrap(bytes)).toString.stripPrefix("\uFEFF"))
    catch case _: CharacterCodingException => None

  /** Returns the charset that the first bytes show; for UTF-16 the first `<` also shows it. */
  def marked(bytes: Array[Byte]): Option[Charset] =
    marks.collectFirst:
      case (mark, encoding) if bytes.take(mark.size).map(_ & 0xff).sameElements(mark) => encoding
