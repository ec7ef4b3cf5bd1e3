package weir.console

/** A JSON value, to be written. */
private[console] enum Json:
  case Text(value: String)
  case Number(value: Double)
  case Bool(value: Boolean)
  case Items(values: Seq[Json])
  case Fields(values: Seq[(String, Json)])

  /** Returns the text of this value, on one line. */
  def text: String =
    val to = StringBuilder()
    Json.write(this, to)
    to.toString

private[console] object Json:
  def fields(values: (String, Json)*): Json = Fields(values)

  extension (value: String) def json: Json = Text(value)
  extension (value: Double) def json: Json = Number(value)
  extension (value: Boolean) def json: Json = Bool(value)
  extension (values: Seq[Json]) def json: Json = Items(values)

  private def write(json: Json, to: StringBuilder): Unit = json match
    case Text(value) => quote(value, to)
    case Number(value) => to ++= number(value)
    case Bool(value) => to ++= value.toString
    case Items(values) =>
      separated(values, '[', ']', to)(write(_, to))
    case Fields(values) =>
      separated(values, '{', '}', to) { (name, value) =>
        quote(name, to)
        to += ':'
        write(value, to)
      }

  private def separated[A](values: Seq[A], begin: Char, end: Char, to: StringBuilder)(
      one: A => Unit
  ): Unit =
    to += begin
    var isFirst = true
    values.foreach { value =>
      if !isFirst then to += ','
      isFirst = false
      one(value)
    }
    to += end

  /** JSON has no number that is not finite. */
  private def number(value: Double): String =
    if value.isNaN || value.isInfinite then "null"
    else if value.isWhole && math.abs(value) < 1e15 then value.toLong.toString
    else value.toString

  /** Escapes all but plain characters: surrogates too, since a lone one has no form in UTF-8. */
  private def quote(value: String, to: StringBuilder): Unit =
    to += '"'
    value.foreach {
      case '"' => to ++= "\\\""
      case '\\' => to ++= "\\\\"
      case char
          if char < ' ' || char == 0x7f || char.isSurrogate || char == '\u2028' ||
            char == '\u2029' =>
        to ++= f"\\u${char.toInt}%04x"
      case char => to += char
    }
    to += '"'
