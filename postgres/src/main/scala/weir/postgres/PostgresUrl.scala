package weir.postgres

import java.nio.file.{Files, Path}
import org.postgresql.jdbcurlresolver.PgPassParser
import weir.postgres.send.{LibpqWords, ServiceFile, UrlWords}
import weir.postgres.split.Refused

/** Where a database is, and as whom to go there, as the driver wants it.
  *
  * @param jdbc
  *   for the driver, without user and password if they were not in it
  * @param socketFile
  *   of the Unix domain socket, if it is not TCP
  * @param properties
  *   more for the driver
  * @param settings
  *   that the session begins with
  */
final class PostgresUrl private[postgres] (
    val jdbc: String,
    val socketFile: Option[Path],
    val user: Option[String],
    val password: Option[String],
    val properties: Map[String, String],
    val settings: Map[String, String]
):
  /** For messages: holds no password. */
  override def toString: String =
    val where = jdbc.replaceFirst("//[^/@?]*@", "//").takeWhile(_ != '?')
    socketFile match
      case Some(file) => s"database ${where.reverse.takeWhile(_ != '/').reverse} at $file"
      case None => where

object PostgresUrl:
  /** What `text` and the variables of libpq in `environment` say together. See `ScriptConnection.open`.
    *
    * '''Fails''' with an `IllegalArgumentException`, which shows no password.
    */
  def parse(text: String, environment: Map[String, String]): PostgresUrl =
    if text.startsWith("jdbc:") then ofJdbc(text, environment)
    else
      val given_ =
        if text.startsWith("postgresql://") || text.startsWith("postgres://") then
          UrlWords.ofUri(text)
        else if text.contains('=') then UrlWords.ofKeywords(text)
        else if text.isEmpty then Map.empty
        else Map("dbname" -> text)
      val usual = LibpqWords.ofEnvironment(environment)
      val service = given_.get("service").orElse(usual.get("service"))
      val served = service.fold(Map.empty)(ServiceFile.words(_, environment))
      ofWords(usual ++ served ++ given_, environment)

  private def ofJdbc(text: String, environment: Map[String, String]): PostgresUrl =
    require(
      text.startsWith("jdbc:postgresql:"),
      s"the address begins with ${text.takeWhile(_ != '/')}. It must be a jdbc:postgresql: address."
    )
    val names = "[?&](user|password)=".r.findAllMatchIn(text).map(_.group(1)).toSet
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
    val hosts = words.get("host").orElse(words.get("hostaddr")).fold(List(""))(_.split(',').toList)
    val ports = words.get("port").fold(List("5432"))(_.split(',').toList).map(portOf)
    require(
      ports.size == 1 || ports.size == hosts.size,
      s"there are ${hosts.size} hosts and ${ports.size} ports. Give one port, or one for each host."
    )
    val targets = hosts.zipAll(ports, "", ports.head)
    val socket = targets match
      case List((host, port)) => socketFile(host, port)
      case _ =>
        require(
          !hosts.exists(host => host.startsWith("/") || host.startsWith("@")),
          "several hosts, of which one is a folder of sockets. Give one of them alone."
        )
        None
    LibpqWords.refuse(environment, socket.nonEmpty)
    val settings = LibpqWords.session(words, environment)
    for encoding <- settings.get("client_encoding"); problem <- Refused.encoding(encoding) do
      throw IllegalArgumentException(s"$problem. ${Refused.hint}")
    val authority = targets
      .map((host, port) =>
        s"${if host.isEmpty || socket.nonEmpty then "localhost" else host}:$port"
      )
      .mkString(",")
    PostgresUrl(
      s"jdbc:postgresql://$authority/${encode(database)}",
      socket,
      Some(user),
      words.get("password").orElse(socket.flatMap(passwordOf(_, ports.head, database, user))),
      LibpqWords.driver(words),
      settings
    )

  /** What is in `~/.pgpass` for the folder of a socket; the driver looks there for `localhost`. */
  private def passwordOf(
      socket: Path,
      port: String,
      database: String,
      user: String
  ): Option[String] =
    Option(PgPassParser.getPassword(s"${socket.getParent}", port, database, user))

  private def portOf(text: String): String =
    val valid = text.toIntOption.exists(port => port >= 1 && port <= 65535)
    require(valid || text.isEmpty, s"the port was $text. It must be a number from 1 to 65535.")
    if text.isEmpty then "5432" else text

  /** As libpq: a host that begins with `/` is a folder of sockets, and without a host it is the usual one, if there is a socket. */
  private def socketFile(host: String, port: String): Option[Path] =
    val name = s".s.PGSQL.$port"
    if host.startsWith("/") then Some(Path.of(host, name))
    else if host.nonEmpty then None
    else UsualFolders.map(Path.of(_, name)).find(Files.exists(_))

  private val UsualFolders = List("/var/run/postgresql", "/tmp")

  private def encode(text: String): String =
    java.net.URLEncoder.encode(text, "UTF-8").replace("+", "%20")
