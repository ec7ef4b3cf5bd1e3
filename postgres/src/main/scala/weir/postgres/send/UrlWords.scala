package weir.postgres.send

import java.net.URLDecoder

/** The connection parameters of libpq, however they were written. */
private[postgres] object UrlWords:

  /** What the driver calls them. */
  val toDriver: Map[String, String] = Map(
    "connect_timeout" -> "connectTimeout",
    "sslmode" -> "sslmode",
    "sslrootcert" -> "sslrootcert",
    "sslcert" -> "sslcert",
    "sslkey" -> "sslkey",
    "sslpassword" -> "sslpassword",
    "sslnegotiation" -> "sslNegotiation",
    "channel_binding" -> "channelBinding",
    "application_name" -> "ApplicationName",
    "options" -> "options",
    "keepalives" -> "tcpKeepAlive",
    "gssencmode" -> "gssEncMode",
    "target_session_attrs" -> "targetServerType",
    "load_balance_hosts" -> "loadBalanceHosts"
  )

  private val places = Set("host", "hostaddr", "port", "dbname", "user", "password")

  private val variables = Map(
    "PGHOST" -> "host",
    "PGHOSTADDR" -> "hostaddr",
    "PGPORT" -> "port",
    "PGDATABASE" -> "dbname",
    "PGUSER" -> "user",
    "PGPASSWORD" -> "password",
    "PGSSLMODE" -> "sslmode",
    "PGSSLROOTCERT" -> "sslrootcert",
    "PGSSLCERT" -> "sslcert",
    "PGSSLKEY" -> "sslkey",
    "PGOPTIONS" -> "options",
    "PGAPPNAME" -> "application_name",
    "PGCONNECT_TIMEOUT" -> "connect_timeout",
    "PGTARGETSESSIONATTRS" -> "target_session_attrs"
  )

  def ofEnvironment(environment: Map[String, String]): Map[String, String] =
    for
      (variable, name) <- variables
      value <- environment.get(variable) if value.nonEmpty
    yield name -> value

  /** `postgresql://user:password@host:port,host:port/database?name=value`, where all parts may be left out. */
  def ofUri(text: String): Map[String, String] =
    val rest = text.substring(text.indexOf("://") + 3)
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
        known(decode(name)) -> decode(value.drop(1))
      }
      .toMap

  /** `host=/run/postgresql dbname='a b'`: a backslash takes the meaning of a quote or a backslash away. */
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
      known(m.group(1)) -> raw.replaceAll("""\\(.)""", "$1")
    }.toMap

  /** The driver's value for one of libpq's. */
  def driverValue(name: String, value: String): String = (name, value) match
    case ("keepalives", "0") => "false"
    case ("keepalives", _) => "true"
    case ("target_session_attrs", "read-write") => "primary"
    case ("target_session_attrs", "read-only" | "standby") => "secondary"
    case ("target_session_attrs", "prefer-standby") => "preferSecondary"
    case ("load_balance_hosts", "random") => "true"
    case ("load_balance_hosts", _) => "false"
    case _ => value

  private def known(name: String): String =
    require(
      places(name) || toDriver.contains(name),
      s"the address has the parameter $name, which is not supported. These are: " +
        (places ++ toDriver.keySet).toList.sorted.mkString(", ") + "."
    )
    name

  private def decode(text: String): String =
    try URLDecoder.decode(text.replace("+", "%2B"), "UTF-8")
    catch
      case _: IllegalArgumentException =>
        throw IllegalArgumentException(
          "the address has a % that is not followed by two hexadecimal digits. Write %25 for it."
        )
