import java.nio.file.{Files, Path}

import scala.util.Try

import sbt._

/** A folder of this sbt for the files of tests, in memory.
  *
  * Each new database of Postgres is three hundred files, and each commit of SQLite waits for the
  * disk: with their files in memory the tests that need them take about half of the processors'
  * time, and less than half of the time.
  */
object MemoryFolder {
  private val memory = Path.of("/dev/shm")
  private val name = "weir-tests-"

  /** No machine on which this would be missing, and no container with a small one. */
  private val leastBytes = 6L << 30

  /** The options of a JVM that keeps its temporary files there; none where there is no such place.
    * The programs of the embedded Postgres stay where they are unpacked once for all.
    */
  lazy val options: Seq[String] =
    folder.toSeq.flatMap { folder =>
      val programs = file(sys.props("java.io.tmpdir")) / "embedded-pg"
      Seq(s"-Djava.io.tmpdir=$folder", s"-Dot.epg.working-dir=$programs")
    }

  private lazy val folder: Option[Path] =
    Try(Files.getFileStore(memory).getUsableSpace).toOption.filter(_ >= leastBytes).flatMap { _ =>
      deleteLeftOver()
      val own = memory.resolve(s"$name${ProcessHandle.current.pid}")
      Try(Files.createDirectories(own)).toOption.map { made =>
        sys.addShutdownHook(IO.delete(made.toFile))
        made
      }
    }

  /** Removes the files of an sbt that was killed. A server of Postgres that still runs ends when it
    * finds its data gone.
    */
  private def deleteLeftOver(): Unit =
    for {
      left <- IO.listFiles(memory.toFile, (file: File) => file.getName.startsWith(name))
      pid <- Try(left.getName.stripPrefix(name).toLong).toOption
      if !ProcessHandle.of(pid).filter(_.isAlive).isPresent
    } Try(IO.delete(left))
}
