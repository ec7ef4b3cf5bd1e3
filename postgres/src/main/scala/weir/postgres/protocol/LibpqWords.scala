package weir.postgres.protocol

import java.nio.file.{Files, Path}

/** The parameters of a connection as libpq names them, in addresses and in the environment, and
  * what each of them becomes here.
  */
private[postgres] object LibpqWords:
  enum Goes:
    /** The address or the user of the connection. */
    case Place

    /** A property of the driver with this name. */
    case Driver(property: String)

    /** A setting of the server that the session begins with. */
    case Session(setting: String)

  import Goes.*

  /** @param word
    *   its name in an address; none if it can only be set in the environment
    */
  final case class Word(word: Option[String], variable: Option[String], goes: Goes)

  private def both(word: String, variable: String, goes: Goes) =
    Word(Some(word), Some(variable), goes)

  val all: List[Word] = List(
    both("host", "PGHOST", Place),
    both("hostaddr", "PGHOSTADDR", Place),
    both("port", "PGPORT", Place),
    both("dbname", "PGDATABASE", Place),
    both("user", "PGUSER", Place),
    both("password", "PGPASSWORD", Place),
    both("service", "PGSERVICE", Place),
    both("connect_timeout", "PGCONNECT_TIMEOUT", Driver("connectTimeout")),
    both("sslmode", "PGSSLMODE", Driver("sslmode")),
    both("sslnegotiation", "PGSSLNEGOTIATION", Driver("sslNegotiation")),
    both("sslrootcert", "PGSSLROOTCERT", Driver("sslrootcert")),
    both("sslcert", "PGSSLCERT", Driver("sslcert")),
    both("sslkey", "PGSSLKEY", Driver("sslkey")),
    Word(Some("sslpassword"), None, Driver("sslpassword")),
    both("channel_binding", "PGCHANNELBINDING", Driver("channelBinding")),
    both("require_auth", "PGREQUIREAUTH", Driver("requireAuth")),
    both("gssencmode", "PGGSSENCMODE", Driver("gssEncMode")),
    both("application_name", "PGAPPNAME", Driver("ApplicationName")),
    both("options", "PGOPTIONS", Driver("options")),
    Word(Some("keepalives"), None, Driver("tcpKeepAlive")),
    both("target_session_attrs", "PGTARGETSESSIONATTRS", Driver("targetServerType")),
    both("load_balance_hosts", "PGLOADBALANCEHOSTS", Driver("loadBalanceHosts")),
    both("client_encoding", "PGCLIENTENCODING", Session("client_encoding")),
    Word(None, Some("PGTZ"), Session("TimeZone")),
    Word(None, Some("PGDATESTYLE"), Session("DateStyle")),
    Word(None, Some("PGGEQO"), Session("geqo"))
  )

  /** The names that an address may have. */
  val inAddress: Set[String] = all.flatMap(_.word).toSet

  /** Variables that make a connection safer, with the values that are respected anyway. */
  private val refusedOverTcp = Map(
    "PGSSLCRL" -> Set.empty[String],
    "PGSSLCRLDIR" -> Set.empty[String],
    "PGSSLCERTMODE" -> Set("allow"),
    "PGSSLMINPROTOCOLVERSION" -> Set("TLSv1", "TLSv1.1", "TLSv1.2") // the JDK speaks nothing older
  )
  private val refusedOverUnix = Map("PGREQUIREPEER" -> Set.empty[String])

  /** **Fails** where passing over a variable would make the connection less safe than psql's.
    */
  def refuse(environment: Map[String, String], isUnix: Boolean): Unit =
    for
      (variable, harmless) <- if isUnix then refusedOverUnix else refusedOverTcp
      value <- environment.get(variable) if value.nonEmpty && !harmless(value)
    do
      throw IllegalArgumentException(
        s"$variable is $value, which is not supported. Unset it if the connection does not need it."
      )

  /** Returns the values of the variables, by the parameters' names in addresses. */
  def ofEnvironment(environment: Map[String, String]): Map[String, String] =
    all
      .filter(_.word.nonEmpty)
      .flatMap(one => environment.get(one.variable.getOrElse("")).map(one.word.get -> _))
      .filter(_._2.nonEmpty)
      .toMap

  /** Returns the settings that the session begins with: from the parameters, and from variables
    * that have none.
    */
  def session(words: Map[String, String], environment: Map[String, String]): Map[String, String] =
    all
      .collect { case Word(word, variable, Session(setting)) =>
        word.fold(environment.get(variable.getOrElse("")))(words.get).map(setting -> _)
      }
      .flatten
      // As in libpq, these values keep the server's; `auto` is the encoding of the terminal.
      .filterNot((_, value) =>
        value.isEmpty || value.equalsIgnoreCase("default") || value == "auto"
      )
      .toMap

  def driver(
      given_ : Map[String, String],
      environment: Map[String, String]
  ): Map[String, String] =
    val words = files(given_, environment) ++ given_ ++ stricter(given_, environment)
    all
      .collect { case Word(Some(word), _, Driver(property)) =>
        words.get(word).map(value => property -> driverValue(word, value))
      }
      .flatten
      .toMap

  /** For libpq `require` is `verify-ca` where there is a file of certificates to trust; for the
    * driver it is not.
    */
  private def stricter(
      words: Map[String, String],
      environment: Map[String, String]
  ): Option[(String, String)] =
    val root =
      words.get("sslrootcert").fold(ownFolder(environment).resolve("root.crt"))(Path.of(_))
    Option.when(words.get("sslmode").contains("require") && Files.exists(root))(
      "sslmode" -> "verify-ca"
    )

  private def ownFolder(environment: Map[String, String]): Path =
    Home.of(environment).resolve(".postgresql")

  /** Returns the user's own files where `HOME` says where they are: the driver does not know that
    * variable. A certificate that is not there is empty, so that the driver does not take another.
    */
  private def files(
      words: Map[String, String],
      environment: Map[String, String]
  ): Map[String, String] =
    if !environment.get("HOME").exists(_.nonEmpty) then Map.empty
    else
      def own(names: String*) = names.map(ownFolder(environment).resolve(_))
      def found(names: String*) = own(names*).find(Files.exists(_)).fold("")(_.toString)
      val root =
        if words.get("sslmode").exists(Set("require", "verify-ca", "verify-full")) then
          Map("sslrootcert" -> own("root.crt").head.toString)
        else Map.empty
      if words.contains("sslcert") || words.contains("sslkey") then root
      else
        root ++ Map(
          "sslcert" -> found("postgresql.crt"),
          "sslkey" -> found("postgresql.key", "postgresql.pk8")
        )

  /** Returns the driver's value for one of libpq's. */
  private def driverValue(word: String, value: String): String = (word, value) match
    case ("connect_timeout", s"-$_") => "0" // for ever
    case ("keepalives", "0") => "false"
    case ("keepalives", _) => "true"
    case ("target_session_attrs", "read-write") => "primary"
    case ("target_session_attrs", "read-only" | "standby") => "secondary"
    case ("target_session_attrs", "prefer-standby") => "preferSecondary"
    case ("load_balance_hosts", "random") => "true"
    case ("load_balance_hosts", _) => "false"
    case _ => value

  /** A text that is no name may be a part of a password. */
  private def shown(name: String): String =
    if name.matches("[A-Za-z_]{1,40}") then s"the parameter $name" else "a parameter"

  /** `name`, if an address may have it. */
  def known(name: String): String =
    require(
      inAddress(name),
      s"the address has ${shown(name)}, which is not supported. These are: " +
        inAddress.toList.sorted.mkString(", ") + "."
    )
    name
