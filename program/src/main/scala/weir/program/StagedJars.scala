package weir.program

import java.io.File
import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*

/** A set of jars that this program does not load itself, but starts other JVMs with.
  *
  * The build puts them into a folder, and the launcher says in `weir.lab` where that is.
  */
final case class StagedJars(name: String, mainClass: String):
  /** Returns the jars. **Fails** with [[BadInput]] if they are not there. */
  def classPath: String =
    val folder = StagedJars.folder.resolve(name)
    val list = folder.resolve("classpath")
    if !Files.isReadable(list) then
      throw BadInput("weir", s"there is no $list.", "Start the program with ./weir.")
    val jars = Files.readAllLines(list).asScala.map(folder.resolve("lib").resolve(_))
    jars.mkString(File.pathSeparator)

  /** More options for each of its JVMs, `%m` in them being its name: the tests have theirs start
    * fast.
    */
  def flags: Seq[String] =
    sys.props.get("weir.lab.flags").toSeq.flatMap(_.replace("%m", name).split(" "))

object StagedJars:
  val broker = StagedJars("broker", "weir.broker.BrokerProgram")
  val bench = StagedJars("bench", "weir.bench.child.Main")
  val benchCe2 = StagedJars("bench-ce2", "weir.bench.ce2.Main")

  private def folder: Path =
    Path.of(
      sys.props.getOrElse(
        "weir.lab",
        throw BadInput(
          "weir",
          "the jars for other JVMs are missing.",
          "Start the program with ./weir."
        )
      )
    )
