package weir.feeds.store

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.HexFormat

/** Stands for a text in a comparison. */
private[store] object TextDigest:
  /** The SHA-256 of the text, in hexadecimal. */
  def of(text: String): String =
    HexFormat.of.formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)))

  /** Returns the digest of an entry's texts. */
  def of(summary: Option[String], content: Option[String]): String =
    of(s"${of(summary.getOrElse(""))} ${of(content.getOrElse(""))}")
