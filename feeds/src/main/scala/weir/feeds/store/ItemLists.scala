package weir.feeds.store

import scala.util.Try

/** The lists of an item as text in its row: arrays of JSON, null for an empty one. */
private[store] object ItemLists:
  def ofTexts(texts: Vector[String]): Option[String] =
    Option.when(texts.nonEmpty)(ujson.write(ujson.Arr.from(texts)))

  def texts(column: Option[String]): Vector[String] = array(column).map(_.str)

  def ofEnclosures(enclosures: Vector[Enclosure]): Option[String] =
    Option.when(enclosures.nonEmpty)(ujson.write(ujson.Arr.from(enclosures.map(json))))

  def enclosures(column: Option[String]): Vector[Enclosure] = array(column).map: value =>
    def number(name: String) = value.obj.get(name).map(_.str.toLong)
    Enclosure(
      url = value("url").str,
      kind = value.obj.get("type").map(_.str),
      length = number("length"),
      seconds = number("seconds")
    )

  /** Numbers are text, since those of JSON are exact only up to 2^53. */
  private def json(enclosure: Enclosure): ujson.Obj =
    val fields = Seq(
      Some("url" -> enclosure.url),
      enclosure.kind.map("type" -> _),
      enclosure.length.map("length" -> _.toString),
      enclosure.seconds.map("seconds" -> _.toString)
    )
    ujson.Obj.from(fields.flatten.map((name, value) => name -> ujson.Str(value)))

  private def array(column: Option[String]): Vector[ujson.Value] =
    column.flatMap(text => Try(ujson.read(text).arr.toVector).toOption).getOrElse(Vector.empty)
