package weir.http

/** The header fields of a message, in their order. Names are compared without regard to case.
  * {{{
  * val headers = Headers("Content-Type" -> "text/plain").add("Vary", "Accept")
  * assert(headers.get("content-type").contains("text/plain"))
  * }}}
  */
final class Headers private (made: => Vector[(String, String)]):
  private lazy val fields = made

  /** The fields as a server sends them, once it has sent them. Headers are often constants. */
  private[http] var prepared: AnyRef | Null = null

  /** Returns all names and values. */
  def toVector: Vector[(String, String)] = fields

  /** Returns the value of the first field called `name`. */
  def get(name: String): Option[String] =
    fields.collectFirst { case (other, value) if other.equalsIgnoreCase(name) => value }

  /** Returns the values of all fields called `name`. */
  def all(name: String): Vector[String] =
    fields.collect { case (other, value) if other.equalsIgnoreCase(name) => value }

  /** Returns true if there is a field called `name`. */
  def contains(name: String): Boolean = fields.exists(_._1.equalsIgnoreCase(name))

  /** Returns these fields and one more, after them. **Fails** as `Headers.apply`. */
  def add(name: String, value: String): Headers =
    val all = fields :+ Headers.checked(name, value)
    new Headers(all)

  /** Returns these fields with `value` as the only one called `name`. **Fails** as `Headers.apply`.
    */
  def set(name: String, value: String): Headers = remove(name).add(name, value)

  /** Returns these fields without those called `name`. */
  def remove(name: String): Headers =
    val others = fields.filterNot(_._1.equalsIgnoreCase(name))
    new Headers(others)

  override def equals(other: Any): Boolean = other match
    case that: Headers => fields == that.toVector
    case _ => false

  override def hashCode: Int = fields.hashCode

  override def toString: String =
    fields.map((name, value) => s"$name: $value").mkString("Headers(", ", ", ")")

object Headers:
  val empty: Headers = new Headers(Vector.empty)

  /** Returns these fields. **Fails** with an `IllegalArgumentException` if a name is not a valid
    * name of HTTP, or if a value has a control character, such as the end of a line, or a character
    * above U+00FF, which HTTP cannot send.
    */
  def apply(fields: (String, String)*): Headers =
    val all = fields.iterator.map(checked(_, _)).toVector
    new Headers(all)

  /** Returns fields that a parser of HTTP has checked. `fields` is evaluated when they are first
    * asked for.
    */
  private[http] def received(fields: => Vector[(String, String)]): Headers = new Headers(fields)

  private def checked(name: String, value: String): (String, String) =
    require(
      name.nonEmpty && name.forall(isOfToken),
      s"Headers: the name of a field was '${printable(name)}'. It must consist of letters, " +
        "digits and the signs that RFC 9110 allows in a token."
    )
    require(
      value.forall(c => c == '\t' || c >= ' ' && c != 127 && c <= 0xff),
      s"Headers: the value of $name was '${printable(value)}'. It must not have control " +
        "characters, such as the end of a line, nor characters above U+00FF."
    )
    name -> value

  private def isOfToken(c: Char): Boolean =
    c < 128 && (Character.isLetterOrDigit(c) || "!#$%&'*+-.^_`|~".indexOf(c.toInt) >= 0)

  private def printable(text: String): String =
    text.map(c => if Character.isISOControl(c) then '?' else c)
