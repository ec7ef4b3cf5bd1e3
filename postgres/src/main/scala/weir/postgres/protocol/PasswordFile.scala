package weir.postgres.protocol

import java.io.IOException
import java.nio.file.attribute.PosixFilePermission.{OWNER_EXECUTE, OWNER_READ, OWNER_WRITE}
import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*

/** libpq's password file: lines `host:port:database:user:password`, in which `*` matches anything.
  * See docs/decisions/0040-done-here-beside-a-library.md.
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
    .fold(Home.of(environment).resolve(".pgpass"))(Path.of(_))

  private def lines(file: Path): List[String] =
    try
      if !Files.isRegularFile(file) then Nil
      else Files.readAllLines(file).asScala.toList.filterNot(_.startsWith("#"))
    catch
      case error: IOException =>
        throw IllegalArgumentException(s"the file $file cannot be read: ${error.getMessage}")

  /** Returns the fields of a line, five at most, unchanged. A colon after a backslash does not
    * separate; any other one does, also behind the password.
    */
  private def fields(line: String): Vector[String] =
    val colons = escapedOrColon.findAllMatchIn(line).filter(_.matched == ":").map(_.start).toVector
    val ends = -1 +: colons :+ line.length
    ends.zip(ends.tail).map((before, end) => line.substring(before + 1, end)).take(5)

  private val escapedOrColon = """\\.|:""".r

  private def fits(word: String, wanted: String): Boolean =
    word == "*" || unescape(word) == wanted

  private def unescape(word: String): String = word.replaceAll("""\\(.)""", "$1")
