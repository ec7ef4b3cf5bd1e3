package weir.lab

/** Something to measure on one system, in a JVM that does nothing else. */
trait Experiment:
  /** Runs to the end and reports on the way.
    *
    * **Fails** where nothing can be measured at all; the program then reports the error.
    */
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit

object Experiment:
  /** The arguments `key=value`. */
  final case class Options(values: Map[String, String]):
    def text(key: String): String =
      values.getOrElse(key, throw IllegalArgumentException(s"the option $key=… is missing"))

    def int(key: String): Int = number(key)(_.toIntOption)
    def long(key: String): Long = number(key)(_.toLongOption)
    def double(key: String): Double = number(key)(_.toDoubleOption)
    def has(key: String): Boolean = values.contains(key)

    private def number[A](key: String)(parse: String => Option[A]): A =
      val value = text(key)
      parse(value).getOrElse(throw IllegalArgumentException(s"$key=$value is not a number"))
