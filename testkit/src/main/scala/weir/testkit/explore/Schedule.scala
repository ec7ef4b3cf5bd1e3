package weir.testkit.explore

/** An order as a short text, such as `5.2-9.0`: at step 5 strand 2 is next, and at step 9 strand 0,
  * where by default another one would be. Numbers are in base 36. An order without any choices is
  * `0`.
  */
private[testkit] object Schedule:
  def text(choices: Seq[(Int, Int)]): String =
    if choices.isEmpty then "0"
    else choices.map((step, id) => s"${digits(step)}.${digits(id)}").mkString("-")

  def parse(text: String): Vector[(Int, Int)] =
    if text == "0" then Vector()
    else
      try
        text
          .split('-')
          .toVector
          .map(_.split('.'))
          .map(pair => (Integer.parseInt(pair(0), 36), Integer.parseInt(pair(1), 36)))
      catch
        case _: (NumberFormatException | ArrayIndexOutOfBoundsException) =>
          throw IllegalArgumentException(
            s"weir.test.schedule was \"$text\". It must be a schedule that a failed exploration " +
              "has printed, such as 5.2-9.0."
          )

  /** Returns the order that the option `-Dweir.test.schedule=` requests. */
  def wanted: Option[Vector[(Int, Int)]] = sys.props.get("weir.test.schedule").map(parse)

  private def digits(n: Int) = Integer.toString(n, 36)
