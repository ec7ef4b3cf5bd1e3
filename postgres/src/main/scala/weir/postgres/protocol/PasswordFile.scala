package weir.postgres.protocol

import java.io.IOException
import java.nio.file.attribute.PosixFilePermission.{OWNER_EXECUTE, OWNER_READ, OWNER_WRITE}
import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*

/** libpq's password file: lines `host:port:database:user:password`, in which `*` matches anything.
  */
private[postgres] object PasswordFile:

  /** Returns the password of the first line that matches. **Fails** if others than its owner may
    * read the file.
    */
  def find(
      environment: Map[String, String],
      host: String,
      port: String,
      database: String,
      user: String
  ): Option[String] =
    val wanted = List(host, port, database, user)
    val found = lines(file(environment)).map(fields).collectFirst {
      case words if words.size == 5 && words.zip(wanted).forall(fits(_, _)) => words(4)
    }
    if found.nonEmpty then refuseOpen(environment)
    found.map(unescape)

  /** **Fails** if others than its owner may read the file, which libpq ignores then.
    */
  def refuseOpen(environment: Map[String, String]): Unit =
    val path = file(environment)
    val mode =
      try Files.getPosixFilePermissions(path).asScala.toSet
      catch case _: UnsupportedOperationException | _: IOException => Set.empty
    val owners = Set(OWNER_READ, OWNER_WRITE, OWNER_EXECUTE)
    if !mode.subsetOf(owners) then
      throw IllegalArgumentException(
        s"users other than its owner may read or write the password file $path, so it is not " +
          "used. Run chmod 600 on it."
      )

  private def file(environment: Map[String, String]): Path = environment
    .get("PGPASSFILE")
    .filter(_.nonEmpty)
    .fold(Path.of(System.getProperty("user.home"), ".pgpass"))(Path.of(_))

  private def lines(file: Path): List[String] =
    try
      if !Files.isRegularFile(file) then Nil
      else Files.readAllLines(file).asScala.toList.filterNot(_.startsWith("#"))
    catch
      case error: IOException =>
        throw IllegalArgumentException(s"the file $file cannot be read: ${error.getMessage}")

  /** Returns the fields of a line, five at most, unchanged; a colon after a backslash does not
    * separate.
    */
  private def fields(line: String): Vector[String] =
    val words = "(?:[^:\\\\]|\\\\.)*".r
    val head = Iterator
      .unfold(0)(from =>
        Option.when(from <= line.length) {
          val word = words.findPrefixOf(line.substring(from)).getOrElse("")
          (word, from + word.length + 1)
        }
      )
      .toVector
    if head.size <= 5 then head else head.take(4) :+ head.drop(4).mkString(":")

  private def fits(word: String, wanted: String): Boolean =
    word == "*" || unescape(word) == wanted

  private def unescape(word: String): String = word.replaceAll("""\\(.)""", "$1")
