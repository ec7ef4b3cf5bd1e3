package weir.postgres

import java.nio.charset.{Charset, CharsetDecoder, CharsetEncoder, CoderResult}
import java.nio.{ByteBuffer, CharBuffer}

/** A character set whose bytes from 0xA0 on are the characters of `upper`; those before are as in
  * Latin-1.
  */
private[postgres] final class SingleByteCharset private (name: String, upper: String)
    extends Charset(name, Array.empty):
  private val bytes = upper.zipWithIndex.map((char, i) => char -> (i + 0xa0).toByte).toMap

  override def contains(other: Charset): Boolean = other.name == name || other.name == "US-ASCII"

  override def newDecoder(): CharsetDecoder = new CharsetDecoder(this, 1, 1):
    override def decodeLoop(in: ByteBuffer, out: CharBuffer): CoderResult =
      while in.hasRemaining && out.hasRemaining do
        val byte = in.get() & 0xff
        out.put(if byte < 0xa0 then byte.toChar else upper.charAt(byte - 0xa0)): Unit
      if in.hasRemaining then CoderResult.OVERFLOW else CoderResult.UNDERFLOW

  override def newEncoder(): CharsetEncoder = new CharsetEncoder(this, 1, 1):
    override def encodeLoop(in: CharBuffer, out: ByteBuffer): CoderResult =
      var result = CoderResult.UNDERFLOW
      while in.hasRemaining && out.hasRemaining && result.isUnderflow do
        val char = in.get(in.position())
        if char >= 0xa0 && !bytes.contains(char) then
          val isPair = Character.isHighSurrogate(char) && in.remaining > 1
          result = CoderResult.unmappableForLength(if isPair then 2 else 1)
        else
          out.put(bytes.getOrElse(char, char.toByte))
          in.get(): Unit
      if result.isUnderflow && in.hasRemaining then CoderResult.OVERFLOW else result

private[postgres] object SingleByteCharset:
  // https://www.unicode.org/Public/MAPPINGS/ISO8859/8859-10.TXT
  val Iso10: SingleByteCharset = SingleByteCharset(
    "x-weir-ISO-8859-10",
    "\u00a0ĄĒĢĪĨĶ§ĻĐŠŦŽ\u00adŪŊ°ąēģīĩķ·ļđšŧž―ūŋĀÁÂÃÄÅÆĮČÉĘËĖÍÎÏ" +
      "ÐŅŌÓÔÕÖŨØŲÚÛÜÝÞßāáâãäåæįčéęëėíîïðņōóôõöũøųúûüýþĸ"
  )

  // https://www.unicode.org/Public/MAPPINGS/ISO8859/8859-14.TXT
  val Iso14: SingleByteCharset = SingleByteCharset(
    "x-weir-ISO-8859-14",
    "\u00a0Ḃḃ£ĊċḊ§Ẁ©ẂḋỲ\u00ad®ŸḞḟĠġṀṁ¶ṖẁṗẃṠỳẄẅṡÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏ" +
      "ŴÑÒÓÔÕÖṪØÙÚÛÜÝŶßàáâãäåæçèéêëìíîïŵñòóôõöṫøùúûüýŷÿ"
  )
