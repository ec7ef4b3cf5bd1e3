package weir.runtime

import java.util.Locale

/** Formats a duration for a person. */
private[weir] object DurationText:
  def apply(nanos: Long): String =
    val seconds = nanos.toDouble / 1e9
    if seconds < 1 then s"${nanos / 1_000_000} ms"
    else if seconds < 120 then "%.1f s".formatLocal(Locale.ROOT, seconds)
    else s"${(seconds / 60).toLong} min"
