package weir.feeds.store

import java.nio.charset.StandardCharsets.UTF_8

/** The name of an entry of a feed: its guid; without one, its link; without both, its text.
  *
  * At most [[ItemName.limitBytes]] long, because an index of Postgres takes no more than 2,700
  * bytes: a longer one is cut, with the digest of the whole at its end.
  */
object ItemName:
  private[store] val limitBytes = 1_000
  private val keptCharacters = 100

  def of(
      guid: Option[String],
      url: Option[String],
      title: Option[String],
      summary: Option[String]
  ): String =
    val name =
      guid.orElse(url).getOrElse(TextDigest.of(s"${title.getOrElse("")}\n${summary.getOrElse("")}"))
    val bytes = name.getBytes(UTF_8)
    if bytes.length <= limitBytes then name
    else
      val whole = name.offsetByCodePoints(0, keptCharacters)
      s"${name.take(whole)} sha256:${TextDigest.of(name)}"
