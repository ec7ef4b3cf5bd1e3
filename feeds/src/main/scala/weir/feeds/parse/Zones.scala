package weir.feeds.parse

import java.time.ZoneOffset
import java.util.Locale

/** The names of time zones in the dates of feeds.
  *
  * RFC 822 defines those of North America. European and Asian feeds use the others. Names that
  * several zones share (`IST`, `CST`) have their most frequent meaning in feeds. A single letter is
  * UTC, as RFC 2822 advises, since most programs had the military zones the wrong way round.
  */
private[parse] object Zones:
  /** The offset of the zone `name`; UTC if it is not known. */
  def offset(name: String): ZoneOffset =
    ZoneOffset.ofTotalSeconds(minutes.getOrElse(name.toUpperCase(Locale.ROOT), 0) * 60)

  private val minutes: Map[String, Int] = Map(
    "EST" -> -5,
    "EDT" -> -4,
    "ET" -> -5,
    "CST" -> -6,
    "CDT" -> -5,
    "CT" -> -6,
    "MST" -> -7,
    "MDT" -> -6,
    "MT" -> -7,
    "PST" -> -8,
    "PDT" -> -7,
    "PT" -> -8,
    "AKST" -> -9,
    "AKDT" -> -8,
    "HST" -> -10,
    "BRT" -> -3,
    "ART" -> -3,
    "BST" -> 1,
    "WET" -> 0,
    "WEST" -> 1,
    "CET" -> 1,
    "MET" -> 1,
    "MEZ" -> 1,
    "CEST" -> 2,
    "MEST" -> 2,
    "MESZ" -> 2,
    "EET" -> 2,
    "EEST" -> 3,
    "MSK" -> 3,
    "MSD" -> 4,
    "SAST" -> 2,
    "PKT" -> 5,
    "SGT" -> 8,
    "HKT" -> 8,
    "AWST" -> 8,
    "JST" -> 9,
    "KST" -> 9,
    "AEST" -> 10,
    "AEDT" -> 11,
    "NZST" -> 12,
    "NZDT" -> 13
  ).view.mapValues(_ * 60).toMap + ("IST" -> 330) + ("NST" -> -210)
