package weir.cli.sql

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*
import scala.util.Using

/** The folders for temporary files of this process's embedded servers. Those of other processes
  * come and go.
  */
private[sql] object EmbeddedFolders:
  def now(): Set[Path] =
    val begins = s"weir-postgres-${ProcessHandle.current.pid}-"
    Using.resource(Files.list(Path.of(sys.props("java.io.tmpdir")))):
      _.iterator.asScala.filter(_.getFileName.toString.startsWith(begins)).toSet
