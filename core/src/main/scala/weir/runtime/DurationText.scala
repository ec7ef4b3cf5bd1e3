package weir.runtime

import java.util.Locale

/** How long something takes, as a person reads it. */
private[weir] object DurationText:
  def apply(nanos: Long): String =
    val seconds = nanos.toDouble / 1e9
    if seconds < 1 then s"${nanos / 1_000_000} ms"
    else if seconds < 120 then "%.1f s".formatLocal(Locale.ROOT, seconds)
    else s"${(seconds / 60).toLong} min"
