package weir.cli.feeds.input

import weir.cli.BadInput

/** Sizes as a user writes them (`10MB`, `512KB`, `1048576`) and as the program shows them. */
object ByteSize:
  private val units =
    Map("" -> 1L, "b" -> 1L, "kb" -> 1000L, "mb" -> 1_000_000L, "gb" -> 1_000_000_000L)
  private val form = "([0-9]{1,10})(b|kb|mb|gb)?".r

  /** The number of bytes that `text` names; `place` is the option it was given to.
    *
    * **Fails** with [[BadInput]] if it is none, is zero, or does not fit into one array.
    */
  def parse(place: String, text: String): Int =
    text.trim.toLowerCase.replace(" ", "") match
      case form(count, unit) =>
        val bytes = BigInt(count) * units(Option(unit).getOrElse(""))
        if bytes < 1 || bytes > 1_000_000_000L then
          throw BadInput(place, s"'$text' is out of range.", "It must be from 1B to 1GB.")
        bytes.toInt
      case _ =>
        throw BadInput(place, s"'$text' is not a size.", "Write it like 10MB or 512KB.")

  /** The size in decimal units, without a fraction: `10 MB`, `512 KB`, `7 B`. */
  def show(bytes: Long): String =
    if bytes >= 1_000_000 then s"${bytes / 1_000_000} MB"
    else if bytes >= 1000 then s"${bytes / 1000} KB"
    else s"$bytes B"
