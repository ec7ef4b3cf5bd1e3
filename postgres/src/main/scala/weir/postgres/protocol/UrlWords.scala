package weir.postgres.protocol

import java.net.URLDecoder

/** The connection parameters of libpq in an address of any form. */
private[postgres] object UrlWords:

  /** `postgresql://user:password@host:port,host:port/database?name=value`, where all parts may be
    * left out.
    */
  def ofUri(text: String): Map[String, String] =
    val rest = text.substring(text.indexOf("://") + 3)
    refuseUnclear(rest)
    val (head, query) = rest.span(_ != '?')
    val (authority, database) = head.span(_ != '/')
    val at = authority.lastIndexOf('@')
    val (who, where) = (authority.take(at max 0), authority.substring(at + 1))
    val (user, password) = who.span(_ != ':')
    val targets = if where.isEmpty then Nil else where.split(',').toList.map(target)
    val named = Map(
      "user" -> decode(user),
      "password" -> decode(password.drop(1)),
      "host" -> targets.map((host, _) => decode(host)).mkString(","),
      "port" -> (if targets.forall(_._2.isEmpty) then "" else targets.map(_._2).mkString(",")),
      "dbname" -> decode(database.drop(1))
    ).filter(_._2.nonEmpty)
    named ++ parameters(query.drop(1))

  /** **Fails** if the `@` after a password seems to come after the end of the host, as it does if a
    * password has a `/` in it: parts of the password would be taken for a port or the database, and
    * shown.
    */
  def refuseUnclear(rest: String): Unit =
    val authority = rest.takeWhile(char => char != '/' && char != '?')
    val behind = rest.drop(authority.length)
    val ports =
      authority.split(',').map(_.replaceFirst("^\\[[^]]*]", "").dropWhile(_ != ':').drop(1))
    val isPlain = ports.forall(_.forall(_.isDigit))
    val isUnclear = behind.contains('@') && (!isPlain || behind.takeWhile(_ != '?').contains('@'))
    require(
      authority.contains('@') || !isUnclear,
      "the address has an @ behind the host. In a password / is written %2F, ? is %3F, # is %23 " +
        "and @ is %40."
    )

  private def target(text: String): (String, String) =
    if text.startsWith("[") then
      val end = text.indexOf(']')
      require(
        end > 0,
        "the address has a \"[\" that is not closed. An IPv6 address is written [::1]."
      )
      (text.take(end + 1), text.drop(end + 1).stripPrefix(":"))
    else
      val (host, port) = text.span(_ != ':')
      (host, port.drop(1))

  private def parameters(query: String): Map[String, String] =
    query
      .split('&')
      .filter(_.nonEmpty)
      .map { word =>
        val (name, value) = word.span(_ != '=')
        LibpqWords.known(decode(name)) -> decode(value.drop(1))
      }
      .toMap

  /** `host=/run/postgresql dbname='a b'`: a backslash escapes a quote or a backslash. */
  def ofKeywords(text: String): Map[String, String] =
    val word = """\s*([^\s=]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)""".r
    val found = word.findAllMatchIn(text).toList
    val left = word.replaceAllIn(text, "").trim
    require(
      left.isEmpty,
      "the words of the address cannot be read. They are written name=value, or name='a value'."
    )
    found.map { m =>
      val raw = Option(m.group(2)).getOrElse(m.group(3))
      LibpqWords.known(m.group(1)) -> raw.replaceAll("""\\(.)""", "$1")
    }.toMap

  private def decode(text: String): String =
    try URLDecoder.decode(text.replace("+", "%2B"), "UTF-8")
    catch
      case _: IllegalArgumentException =>
        throw IllegalArgumentException(
          "the address has a % that is not followed by two hexadecimal digits. Write %25 for it."
        )
