package weir.program.report

import weir.program.{Result, ResultTable, Systems, Text}

/** One chart of a report: the cases of a group in one unit, a block of bars for each.
  *
  * @param margin
  *   Weir's advantage over the best rival, in words; empty if there is no rival
  * @param isLog
  *   true if the length of a bar is the logarithm of its value
  */
final case class ChartCard(
    title: String,
    unit: String,
    better: String,
    margin: String,
    isLog: Boolean,
    blocks: Vector[ChartCard.Block]
) extends ReportCard:
  def marginOver: String = "the best rival"

  /** The unit of the figures, and which ones are better. */
  def meaning: String = s"$unit, $better is better"

  /** Returns the meaning of the bars' lengths. */
  def scale: String =
    meaning + (if isLog then "; logarithmic, a line for each factor of ten" else "")

  def table: ReportCard.Table =
    def row(bar: ChartCard.Bar) =
      ReportCard.Row(bar.system, bar.name, Seq(bar.text, bar.ratio).map(ReportCard.Cell(_)))
    ReportCard.Table(Seq("value", "ratio"), blocks.map(block => block.name -> block.bars.map(row)))

  def drawing: ujson.Obj =
    ujson.Obj(
      "title" -> title,
      "unit" -> unit,
      "isLog" -> isLog,
      "blocks" -> ujson.Arr.from(blocks.map(_.drawing))
    )

object ChartCard:
  /** A case, on a scale from `low` to `high`. */
  final case class Block(name: String, low: Double, high: Double, bars: Vector[Bar]):
    private[ChartCard] def drawing: ujson.Obj =
      ujson.Obj(
        "name" -> name,
        "low" -> low,
        "high" -> high,
        "bars" -> ujson.Arr.from(bars.map(_.drawing))
      )

  /** @param text
    *   the value with its unit
    * @param ratio
    *   its ratio to Weir, or Weir's ratio to the bound, in a few characters
    */
  final case class Bar(
      name: String,
      system: String,
      value: Double,
      text: String,
      ratio: String,
      isBehindWeir: Boolean
  ):
    private[ChartCard] def drawing: ujson.Obj =
      ujson.Obj(
        "name" -> name,
        "system" -> system,
        "value" -> value,
        "text" -> text,
        "ratio" -> ratio,
        "isBehindWeir" -> isBehindWeir
      )

  /** If values span more than this, short bars could not be distinguished. */
  private val widestLinear = 30.0

  /** A card for each group and unit, in the order in which they first appear. */
  def of(results: Seq[Result]): Vector[ChartCard] =
    val keys = results.map(key).distinct.toVector
    keys.map(wanted => card(wanted, results.filter(key(_) == wanted).toVector))

  private final case class Key(title: String, unit: String, better: String)

  /** Cases without a group share a card with others in the same unit. */
  private def key(result: Result): Key =
    val title = if result.group == result.name then s"in ${result.unit}" else result.group
    Key(title, result.unit, result.better)

  private def card(key: Key, results: Vector[Result]): ChartCard =
    val cases = results.map(_.name).distinct.map(name => results.filter(_.name == name))
    val names =
      cases.map(_.head).map(first => shortName(first.name.stripPrefix(first.group + ": ")))
    val bars = cases.map(barsOf)
    val areSingle = bars.sizeIs > 1 && bars.forall(_.sizeIs == 1)
    // With one bar a case, the cases are compared.
    val named =
      if areSingle then
        Vector("" -> names.zip(bars.flatten).map((name, bar) => bar.copy(name = name)))
      else names.zip(bars)
    val scales = scalesOf(named.map(_._2.map(_.value)))
    val isLog = scales.exists(scale => span(scale) > widestLinear)
    ChartCard(
      key.title,
      key.unit,
      key.better,
      margin(cases),
      isLog,
      named
        .zip(scales)
        .map:
          case ((name, bars), scale) => Block(name, low(scale, isLog), scale.max, bars)
    )

  /** A size has its thousands apart. */
  private def shortName(name: String): String = name.toLongOption.fold(name)(Text.grouped)

  private def barsOf(results: Vector[Result]): Vector[Bar] =
    val weir = results.find(_.system == Systems.weir)
    val bound = results.find(_.system == Systems.bound)
    results
      .sortBy(result => Systems.order(result.system))
      .map: result =>
        val ratio = weir.filter(_ => isRival(result)).flatMap(Ratio.of(_, result))
        val note =
          if result.system == Systems.weir then
            bound.flatMap(Ratio.of(_, result)).fold("")(ratio => s"${Ratio.show(ratio)} bound")
          else ratio.fold("")(Ratio.show)
        Bar(
          result.system,
          result.system,
          result.value,
          s"${ResultTable.number(result.value)} ${result.unit}",
          note,
          ratio.forall(_ >= 1)
        )

  private def isRival(result: Result): Boolean =
    result.system != Systems.weir && result.system != Systems.bound

  /** From the case where Weir's lead over the best rival is smallest to where it is largest. */
  private def margin(cases: Vector[Vector[Result]]): String =
    val leads = cases.flatMap: results =>
      results
        .find(_.system == Systems.weir)
        .flatMap(weir => results.filter(isRival).flatMap(Ratio.of(weir, _)).minOption)
    leads.map(Ratio.show).distinct match
      case Vector() => ""
      case Vector(one) => one
      case _ => s"${Ratio.show(leads.min)} to ${Ratio.show(leads.max)}"

  /** Returns the values that the scale of each block must hold: one scale for all, so that blocks
    * can be compared, unless the bars of one would be too short then.
    */
  private def scalesOf(blocks: Vector[Vector[Double]]): Vector[Vector[Double]] =
    if span(blocks.map(_.max)) <= widestLinear then blocks.map(_ => blocks.flatten) else blocks

  private def span(values: Vector[Double]): Double =
    val positive = values.filter(_ > 0)
    if positive.isEmpty then 1 else positive.max / positive.min

  /** A logarithmic scale begins so far below every value that the shortest bar can be seen. */
  private def low(values: Vector[Double], isLog: Boolean): Double =
    val least = values.filter(_ > 0).minOption.getOrElse(1.0)
    if isLog then least / math.pow(span(values), 0.2).max(2) else 0

/** The ratio of two figures: how many times better one is than the other, in the sense of their
  * unit.
  */
private[report] object Ratio:
  /** Above 1 if `first` is better; none if that cannot be said in times. */
  def of(first: Result, second: Result): Option[Double] =
    val (better, worse) =
      if first.better == Result.lower then (first.value, second.value)
      else (second.value, first.value)
    Option.when(better > 0 && worse > 0)(worse / better)

  def show(ratio: Double): String =
    val digits = if ratio >= 99.5 then 0 else if ratio >= 1.095 then 1 else 2
    s"${Text.decimal(ratio, digits)}x"
