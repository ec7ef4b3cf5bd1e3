package weir.program

/** One measured figure: how one system did in one case.
  *
  * @param name
  *   the case, as in `gather forked: 1000`; the part before `: ` is the group in reports
  * @param better
  *   [[Result.lower]] or [[Result.higher]]
  */
final case class Result(name: String, system: String, value: Double, unit: String, better: String):
  /** Returns the group of the result, which reports show together: the part of the name before `:
    * `.
    */
  def group: String = name.split(": ", 2).head

  def toJson: ujson.Obj =
    ujson.Obj(
      "case" -> name,
      "system" -> system,
      "value" -> value,
      "unit" -> unit,
      "better" -> better
    )

object Result:
  val lower = "lower"
  val higher = "higher"

  def millis(name: String, system: String, value: Double): Result =
    Result(name, system, value, "ms", lower)

  def opsPerSecond(name: String, system: String, value: Double): Result =
    Result(name, system, value, "ops/s", higher)

  def fromJson(json: ujson.Value): Result =
    Result(
      json("case").str,
      json("system").str,
      json("value").num,
      json("unit").str,
      json("better").str
    )
