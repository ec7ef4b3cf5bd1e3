package weir.postgres.protocol

import java.io.IOException
import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*

/** libpq's file of named connections: a line `[shop]`, then lines like `host=db.example`. As in
  * libpq, spaces around `=` belong to the name and to the value, and the first of two lines for one
  * name counts. See docs/decisions/0040-done-here-beside-a-library.md.
  */
private[postgres] object ServiceFile:

  /** Returns the parameters of `service` in the file of `PGSERVICEFILE`, or in the user's file, or
    * else in the system's.
    */
  def words(service: String, environment: Map[String, String]): Map[String, String] =
    val own = environment.get("PGSERVICEFILE").filter(_.nonEmpty).map(Path.of(_))
    val home = Home.of(environment).resolve(".pg_service.conf")
    val system = environment.get("PGSYSCONFDIR").map(Path.of(_, "pg_service.conf"))
    val files = own.getOrElse(home) :: system.toList
    files.flatMap(section(_, service)).headOption.getOrElse {
      throw IllegalArgumentException(
        s"the service $service is not in ${files.mkString(" or ")}. Add it, under a line " +
          s"[$service], or check the name."
      )
    }

  private def section(file: Path, service: String): Option[Map[String, String]] =
    val lines =
      try if Files.exists(file) then Files.readAllLines(file).asScala.map(_.trim).toList else Nil
      catch
        case error: IOException =>
          throw IllegalArgumentException(s"the file $file cannot be read: ${error.getMessage}")
    lines.dropWhile(_ != s"[$service]") match
      case Nil => None
      case _ :: rest =>
        val own = rest.takeWhile(!_.startsWith("[")).filterNot(l => l.isEmpty || l.startsWith("#"))
        Some(own.reverse.map(word(file, _)).toMap) // of two alike the first is the last

  private def word(file: Path, line: String): (String, String) =
    val (name, value) = line.span(_ != '=')
    if name.endsWith(" ") then
      throw IllegalArgumentException(
        s"the file $file has a space between a name and its '=', which libpq does not allow. " +
          s"Write ${LibpqWords.known(name.trim)}=VALUE."
      )
    LibpqWords.known(name) -> value.drop(1)
