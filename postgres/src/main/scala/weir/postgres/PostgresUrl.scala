package weir.postgres

import java.net.InetAddress
import java.nio.file.{Files, Path}
import weir.postgres.protocol.{LibpqWords, PasswordFile, ServiceFile, UrlWords}

/** The address of a database and the user, as the driver wants them.
  *
  * @param jdbc
  *   the address for the driver, without user and password if they were not in it
  * @param socketFile
  *   the file of the Unix domain socket; none for TCP
  * @param properties
  *   further properties for the driver
  * @param settings
  *   the settings with which the session begins
  * @param addresses
  *   the addresses of a host with this port, so that its name is not looked up
  * @param words
  *   libpq's parameters of which it was made; none for a `jdbc:` address
  */
final class PostgresUrl private[postgres] (
    val jdbc: String,
    val socketFile: Option[Path],
    val user: Option[String],
    val password: Option[String],
    val properties: Map[String, String],
    val settings: Map[String, String],
    private[postgres] val addresses: Map[(String, Int), Vector[InetAddress]] = Map.empty,
    private[postgres] val words: Option[Map[String, String]] = None
):
  /** Returns the database and its server, for messages. */
  private[postgres] def place: String =
    val address = jdbc.stripPrefix("jdbc:postgresql:").takeWhile(_ != '?')
    val (host, database) = address.splitAt(address.lastIndexOf('/') + 1)
    val server = socketFile.fold(host.stripPrefix("//").stripSuffix("/"))(_.toString)
    val name = java.net.URLDecoder.decode(database.replace("+", "%2B"), "UTF-8")
    s"$name at ${if server.isEmpty then "localhost" else server}"

  /** For messages: holds no password. */
  override def toString: String =
    val where = jdbc.replaceFirst("//[^/@?]*@", "//").takeWhile(_ != '?')
    socketFile match
      case Some(file) => s"database ${where.reverse.takeWhile(_ != '/').reverse} at $file"
      case None => where

object PostgresUrl:
  /** Returns the address that `text` and libpq's variables in `environment` give together. See
    * `ScriptConnection.open`.
    *
    * **Fails** with an `IllegalArgumentException`, which shows no password.
    */
  def parse(text: String, environment: Map[String, String]): PostgresUrl =
    refuseOther(text)
    if text.startsWith("jdbc:") then ofJdbc(text, environment)
    else
      fresh(
        wordsOf(text).getOrElse(if text.isEmpty then Map.empty else Map("dbname" -> text)),
        environment
      )

  /** Returns the address that these parameters and libpq's variables give together. */
  private[postgres] def fresh(
      given_ : Map[String, String],
      environment: Map[String, String]
  ): PostgresUrl =
    val usual = LibpqWords.ofEnvironment(environment)
    val service = given_.get("service").orElse(usual.get("service"))
    val served = service.fold(Map.empty)(ServiceFile.words(_, environment))
    ofWords(usual ++ served ++ given_, environment)

  /** Returns the address with `change` in place of some of the parameters of `before`. As in psql,
    * its password is kept only for the same server and user.
    */
  private[postgres] def changed(
      before: Map[String, String],
      change: Map[String, String],
      environment: Map[String, String]
  ): PostgresUrl =
    def isOther(name: String) = change.get(name).exists(value => !before.get(name).contains(value))
    val hasOtherHost = isOther("host") && !change.contains("hostaddr")
    val hasOtherUser = hasOtherHost || List("user", "port", "hostaddr").exists(isOther)
    val kept =
      before -- Option.when(hasOtherHost)("hostaddr") -- Option.when(hasOtherUser)("password")
    val usual = LibpqWords.ofEnvironment(environment).filter((name, _) => name == "password")
    ofWords(usual ++ kept ++ change, environment)

  /** Returns the parameters that an address, or words such as `host=a dbname=b`, has; none if the
    * text is the name of a database.
    */
  private[postgres] def wordsOf(text: String): Option[Map[String, String]] =
    if text.startsWith("postgresql://") || text.startsWith("postgres://") then
      Some(UrlWords.ofUri(text))
    else Option.when(text.contains('='))(UrlWords.ofKeywords(text))

  /** An address of another kind would be taken for the name of a database, with its password. */
  private def refuseOther(text: String): Unit =
    val isPostgres = List("jdbc:", "postgresql://", "postgres://").exists(text.startsWith)
    if !isPostgres && Address.matcher(text).find() then
      val begin = "[A-Za-z][A-Za-z0-9+.-]*:/+".r.findPrefixOf(text)
      throw IllegalArgumentException(
        begin.fold("the address does not say that it is one of Postgres")(
          "the address begins with " + _
        ) + ". It must begin with postgresql://"
      )

  /** A scheme, or a user with a password, before any `name=value`. */
  private val Address =
    java.util.regex.Pattern.compile("^(?:[^=\\s]*://|[A-Za-z][\\w+.-]*:/|[^=\\s]*:\\S*@)")

  private def ofJdbc(text: String, environment: Map[String, String]): PostgresUrl =
    require(
      text.startsWith("jdbc:postgresql:"),
      s"the address begins with ${"jdbc:[a-z0-9]*:?".r.findPrefixOf(text).mkString}. It must be " +
        "a jdbc:postgresql: address."
    )
    val place = text.stripPrefix("jdbc:postgresql:").stripPrefix("//")
    UrlWords.refuseUnclear(place)
    require(
      !place.takeWhile(char => char != '/' && char != '?').contains('@'),
      "the address has a user before the host. Put it at the end: ?user=…&password=…"
    )
    val parsed = org.postgresql.Driver.parseURL(text, java.util.Properties())
    require(
      parsed ne null,
      "the address cannot be parsed. Write it as jdbc:postgresql://HOST:PORT/DATABASE?user=…"
    )
    val names = "[?&](user|password)=".r.findAllMatchIn(text).map(_.group(1)).toSet
    // The driver has read the password file itself.
    val isFromFile = parsed.getProperty("password") != null && !names("password")
    if isFromFile && !environment.contains("PGPASSWORD") then PasswordFile.refuseOpen(environment)
    PostgresUrl(
      text,
      None,
      Option.when(!names("user"))(environment.get("PGUSER")).flatten,
      Option.when(!names("password"))(environment.get("PGPASSWORD")).flatten,
      Map.empty,
      Map.empty
    )

  private def ofWords(words: Map[String, String], environment: Map[String, String]): PostgresUrl =
    val user = words.getOrElse("user", System.getProperty("user.name"))
    val database = words.getOrElse("dbname", user)
    refuseOther(database)
    require(
      !Address.matcher(database).find(),
      "the name of the database is an address. Give the address by itself."
    )
    val named = words.get("host").fold(Nil)(_.split(",", -1).toList)
    val numbers = words.get("hostaddr").fold(Nil)(_.split(",", -1).toList.map(addressOf))
    require(
      named.isEmpty || numbers.isEmpty || named.size == numbers.size,
      s"there are ${named.size} hosts and ${numbers.size} addresses of hosts. Give an address " +
        "for each host."
    )
    // As in libpq: the address is the one to connect to, and the name identifies certificates and
    // passwords.
    val hosts = (if numbers.isEmpty then List("") else numbers.map(_.fold("")(bracketed)))
      .zipAll(named, "", "")
      .map((number, name) => if name.isEmpty then number else name)
    val ports = words.get("port").fold(List("5432"))(_.split(',').toList).map(portOf)
    require(
      ports.size == 1 || ports.size == hosts.size,
      s"there are ${hosts.size} hosts and ${ports.size} ports. Give one port, or one for each host."
    )
    val targets = hosts.zipAll(ports, "", ports.head)
    val socket = targets match
      case List(_) if numbers.exists(_.nonEmpty) => None
      case List((host, port)) => socketFile(host, port)
      case _ =>
        require(
          !hosts
            .zipAll(numbers, "", None)
            .exists((host, number) => number.isEmpty && isFolder(host)),
          "the address has several hosts, one of which is a folder of sockets. Give only one host."
        )
        None
    LibpqWords.refuse(environment, socket.nonEmpty)
    val settings = LibpqWords.session(words, environment)
    for encoding <- settings.get("client_encoding"); problem <- Encodings.problem(encoding) do
      throw IllegalArgumentException(s"$problem. ${Encodings.hint}")
    val authority = targets
      .map((host, port) =>
        s"${if host.isEmpty || socket.nonEmpty || isFolder(host) then "localhost" else host}:$port"
      )
      .mkString(",")
    val addresses = targets
      .zip(numbers)
      .collect { case ((host, port), Some(number)) =>
        (if isFolder(host) then "localhost" else host, port.toInt) -> number
      }
      .groupMap(_._1)(_._2)
      .view
      .mapValues(_.toVector)
      .toMap
    PostgresUrl(
      s"jdbc:postgresql://$authority/${encode(database)}",
      socket,
      Some(user),
      words
        .get("password")
        .orElse(
          targets.iterator
            .flatMap((host, port) => passwordOf(host, socket, port, database, user, environment))
            .nextOption()
        ),
      LibpqWords.driver(words, environment),
      settings,
      addresses,
      Some(words + ("user" -> user) + ("dbname" -> database))
    )

  private def isFolder(host: String): Boolean = host.startsWith("/") || host.startsWith("@")

  /** None of an empty text: then the name is looked up. */
  private def addressOf(text: String): Option[InetAddress] =
    try Option.when(text.nonEmpty)(InetAddress.ofLiteral(text))
    catch
      case _: IllegalArgumentException =>
        throw IllegalArgumentException(
          s"hostaddr is $text. It must be a number such as 192.0.2.1, or 2001:db8::1; a name " +
            "goes into host."
        )

  private def bracketed(address: InetAddress): String =
    val text = address.getHostAddress
    if text.contains(':') then s"[$text]" else text

  /** Returns the password from the password file: for a socket, that of its folder, or else of
    * `localhost`.
    */
  private def passwordOf(
      host: String,
      socket: Option[Path],
      port: String,
      database: String,
      user: String,
      environment: Map[String, String]
  ): Option[String] =
    val names = socket.fold(List(host))(file => List(s"${file.getParent}", "localhost"))
    names
      .flatMap(name => PasswordFile.find(environment, name, port, database, user))
      .headOption

  private def portOf(text: String): String =
    val valid = text.toIntOption.exists(port => port >= 1 && port <= 65535)
    require(valid || text.isEmpty, s"the port was $text. It must be a number from 1 to 65535.")
    if text.isEmpty then "5432" else text

  /** As in libpq: a host that begins with `/` is a folder of sockets. Without a host it is the
    * usual folder, if it has a socket.
    */
  private def socketFile(host: String, port: String): Option[Path] =
    val name = s".s.PGSQL.$port"
    if host.startsWith("/") then Some(Path.of(host, name))
    else if host.nonEmpty then None
    else UsualFolders.map(Path.of(_, name)).find(Files.exists(_))

  private val UsualFolders = List("/var/run/postgresql", "/tmp")

  private def encode(text: String): String =
    java.net.URLEncoder.encode(text, "UTF-8").replace("+", "%20")
