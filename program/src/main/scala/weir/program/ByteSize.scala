package weir.program

/** Numbers of bytes as a user writes them (`16MB`, `512 kB`) and as the program shows them. */
object ByteSize:
  private val largest = 100_000_000_000_000L
  private val steps = Vector(1e12 -> "TB", 1e9 -> "GB", 1e6 -> "MB", 1e3 -> "kB")
  private val form = "([0-9]{1,15})(b|kb|mb|gb)".r
  private val units = Map("b" -> 1L, "kb" -> 1000L, "mb" -> 1_000_000L, "gb" -> 1_000_000_000L)

  /** Returns the number of bytes that `text`, the value of `option`, says: a whole number and its
    * unit, in any case. There is no size without a unit, since users mean different ones.
    *
    * **Fails** with [[BadInput]] if it is no size, or not from `least` to `most`.
    */
  def parse(option: String, text: String, least: Long, most: Long): Long =
    text.trim.toLowerCase.replace(" ", "") match
      case form(count, unit) =>
        val bytes = BigInt(count) * units(unit)
        if bytes < least || bytes > most.min(largest) then
          throw BadInput(
            option,
            s"$text is out of range.",
            s"It must be from ${show(least)} to ${show(most)}."
          )
        bytes.toLong
      case number if number.nonEmpty && number.forall(_.isDigit) =>
        throw BadInput(
          option,
          s"'$text' has no unit.",
          s"Write ${number}B if it is bytes, or a unit such as kB or MB behind the number."
        )
      case _ => throw BadInput(option, s"'$text' is not a size.", "Write it like 16MB or 512kB.")

  /** Returns the bytes of a size, or, on the left, a plain number from 0 to `mostItems`. */
  def countOrBytes(
      option: String,
      text: String,
      mostItems: Int,
      mostBytes: Long
  ): Either[Int, Long] =
    if text.trim.nonEmpty && text.trim.forall(_.isDigit) then
      Left(OptionValue.count(option, text, 0, mostItems))
    else Right(parse(option, text, 1, mostBytes))

  /** Returns the size in decimal units, with three digits: `105 MB`, `1.25 GB`, `7 B`. */
  def show(bytes: Long): String =
    steps.find((unit, _) => bytes >= unit) match
      case None => s"$bytes B"
      case Some((unit, name)) =>
        val number = bytes / unit
        val digits =
          if number >= 99.95 || number == math.rint(number) then 0
          else if number >= 9.995 then 1
          else 2
        s"${Text.decimal(number, digits)} $name"
