package weir.console

import scala.collection.immutable.VectorMap
import weir.metrics.Metric
import weir.metrics.Metric.Kind

/** Writes figures in the text format of Prometheus, version 0.0.4.
  *
  * A name has underscores in place of dots, the unit as its suffix, and `_total` if it is a
  * counter. Points with the same name and labels, such as those of two queues called alike, are
  * added up: the format allows each only once.
  */
private[console] object PrometheusText:
  val contentType = "text/plain; version=0.0.4; charset=utf-8"

  private val suffixes =
    Map("s" -> "seconds", "ms" -> "milliseconds", "By" -> "bytes", "1" -> "ratio")

  def apply(metrics: Vector[Metric]): String =
    val byName = metrics.foldLeft(VectorMap.empty[String, Vector[Metric]]) { (found, metric) =>
      found.updatedWith(nameOf(metric))(same => Some(same.getOrElse(Vector.empty) :+ metric))
    }
    val to = StringBuilder()
    byName.foreach((name, same) => write(name, same, to))
    to.toString

  private def write(name: String, same: Vector[Metric], to: StringBuilder): Unit =
    val first = same.head
    val kind = if first.kind == Kind.Counter then "counter" else "gauge"
    to ++= s"# HELP $name ${escaped(first.description, quotes = false)}\n# TYPE $name $kind\n"
    val sums = same
      .flatMap(_.points)
      .foldLeft(VectorMap.empty[Vector[(String, String)], Double]) { (sums, point) =>
        val labels = labelsOf(point.attributes)
        sums.updated(labels, sums.getOrElse(labels, 0.0) + point.value)
      }
    sums.foreach { (labels, value) =>
      to ++= name
      if labels.nonEmpty then
        to ++= labels
          .map((label, text) => s"""$label="${escaped(text, quotes = true)}"""")
          .mkString("{", ",", "}")
      to ++= s" ${number(value)}\n"
    }

  private def nameOf(metric: Metric): String =
    val unit = suffixes.get(metric.unit).toList
    val counter = if metric.kind == Kind.Counter then List("total") else Nil
    (unit ++ counter).foldLeft(allowed(metric.name, other = ":_")) { (name, suffix) =>
      if name.endsWith(s"_$suffix") then name else s"${name}_$suffix"
    }

  /** Returns the labels. Of labels with the same name, the last counts. */
  private def labelsOf(attributes: Vector[(String, String)]): Vector[(String, String)] =
    attributes.map((name, value) => allowed(name, other = "_") -> value).to(VectorMap).toVector

  /** Replaces characters that a name may not have. A name begins with no digit; labels that begin
    * with two underscores are Prometheus's own.
    */
  private def allowed(name: String, other: String): String =
    val chars = name.map { char =>
      if char < 128 && (char.isLetterOrDigit || other.contains(char)) then char else '_'
    }
    if chars.isEmpty || chars.head.isDigit then s"_$chars"
    else if chars.startsWith("__") then chars.dropWhile(_ == '_').prepended('_')
    else chars

  private def escaped(text: String, quotes: Boolean): String =
    val escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    if quotes then escaped.replace("\"", "\\\"") else escaped

  private def number(value: Double): String =
    if value.isNaN then "NaN"
    else if value.isInfinite then if value > 0 then "+Inf" else "-Inf"
    else if value.isWhole && math.abs(value) < 1e15 then value.toLong.toString
    else value.toString
