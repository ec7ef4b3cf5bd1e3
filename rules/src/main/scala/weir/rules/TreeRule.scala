package weir.rules

import scala.collection.mutable
import scala.tasty.inspector.{Inspector, TastyInspector}

/** A rule about the typed trees of modules, which are in the TASTy files beside the class files.
  * They say what class files do not: which members are `private[weir]`, and what the code says
  * before inlining.
  */
trait TreeRule:

  /** Returns what notes the places that break the rule, in one reading of the trees. */
  private[rules] def finder(): TreeRule.Finder

  /** Returns a line for each place that breaks the rule; empty if the module keeps it. */
  final def breaking(module: CompiledModule): List[String] =
    TreeRule.breaking(List(this), List(module), TreeRule.classPathOfThisJvm).head

object TreeRule:

  /** Notes a line for each place that breaks a rule. */
  private[rules] abstract class Finder extends Inspector:
    val found: mutable.SortedSet[String] = mutable.SortedSet.empty

  /** Returns the lines of each of `rules` about all of `modules`. The compiler starts once, and
    * reads each tree once.
    *
    * @param classPath
    *   all that the modules were compiled with
    */
  def breaking(
      rules: List[TreeRule],
      modules: List[CompiledModule],
      classPath: List[String]
  ): List[List[String]] =
    val finders = rules.map(_.finder())
    val all: Inspector = new Inspector:
      def inspect(using
          quotes: scala.quoted.Quotes
      )(
          files: List[scala.tasty.inspector.Tasty[quotes.type]]
      ): Unit = finders.foreach(_.inspect(files))
    val jars = modules.map(_.location.toString)
    val read = TastyInspector.inspectAllTastyFiles(Nil, jars, classPath)(all)
    require(read, s"The TASTy files of ${jars.mkString(", ")} could not be read.")
    finders.map(_.found.toList)

  private def classPathOfThisJvm =
    System.getProperty("java.class.path").split(java.io.File.pathSeparator).toList
