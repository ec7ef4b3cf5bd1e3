package weir.postgres.protocol

import java.nio.file.Path

/** The folder with the user's own files of libpq: `.pgpass`, `.pg_service.conf` and `.postgresql`.
  */
private[postgres] object Home:
  /** Returns `HOME` if it is set, else the home folder of the system's user, as libpq does. The JVM
    * knows only the latter.
    */
  def of(environment: Map[String, String]): Path = Path.of(
    environment.get("HOME").filter(_.nonEmpty).getOrElse(System.getProperty("user.home"))
  )
