package weir.cli.sql

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*
import scala.util.Using

/** What the embedded servers of this process keep in the folder for temporary files; those of
  * others come and go.
  */
private[sql] object EmbeddedFolders:
  def now(): Set[Path] =
    val begins = s"weir-postgres-${ProcessHandle.current.pid}-"
    Using.resource(Files.list(Path.of(sys.props("java.io.tmpdir")))):
      _.iterator.asScala.filter(_.getFileName.toString.startsWith(begins)).toSet
