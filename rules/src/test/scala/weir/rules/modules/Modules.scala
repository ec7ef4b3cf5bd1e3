package weir.rules.modules

import java.io.File.pathSeparator
import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*
import weir.rules.CompiledModule

/** The modules of this build, as they were compiled, by the names of their folders. */
object Modules:

  /** A module and all that it is compiled with. */
  private final case class Entry(module: CompiledModule, classPath: List[String])

  // The build writes a line for each module: its folder, its jar, and its class path.
  private lazy val entries: Map[String, Entry] =
    val file = sys.props.getOrElse(
      "weir.modules",
      throw IllegalStateException("The property weir.modules is not set. Start it by sbt.")
    )
    Files
      .readAllLines(Path.of(file))
      .asScala
      .map:
        case s"$name=$paths" =>
          val jar :: classPath = paths.split(pathSeparator).toList: @unchecked
          name -> Entry(CompiledModule(Path.of(jar)), classPath)
      .toMap

  def names: Set[String] = entries.keySet

  /** Returns the module in the folder `name`. */
  def of(name: String): CompiledModule = entries(name).module

  /** Returns all that the modules of that name are compiled with. */
  def classPath(names: List[String]): List[String] =
    names.flatMap(entries(_).classPath).distinct
