package weir.rules

import com.tngtech.archunit.lang.ArchRule
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.{classes, noClasses}
import com.tngtech.archunit.library.Architectures.layeredArchitecture

/** An order of the packages under `root`: a package may use those of lower levels, and neither one
  * beside it nor one above it. The classes of `root` itself may use everything.
  *
  * It reads class files, so it sees each class that the code mentions, however it was imported. It
  * does not see the value of a constant, a type alias, or a type that erasure removes inside of a
  * method: those leave nothing in a class file.
  *
  * @param levels
  *   the lowest first; each package includes those below it
  */
final class PackageOrder(root: String, levels: List[Set[String]]):
  private val names = levels.flatten

  /** Each package uses lower levels alone. It fails on a package without classes too. */
  def onlyDownwards: ArchRule =
    val layers = names.foldLeft(layeredArchitecture().consideringOnlyDependenciesInLayers()):
      (rule, name) => rule.layer(name).definedBy(within(name))
    levels.inits.toList.reverse
      .collect { case lower :+ level => (lower.flatten, level) }
      .foldLeft(
        layers
      ):
        case (rule, (lower, level)) =>
          level.foldLeft(rule): (rule, name) =>
            val layer = rule.whereLayer(name)
            if lower.isEmpty then layer.mayNotAccessAnyLayer()
            else layer.mayOnlyAccessLayers(lower*)

  /** `from` reaches none of `to`, by whatever way: through the classes of `root` too. */
  def neverReaches(from: String, to: Set[String]): ArchRule =
    noClasses()
      .that()
      .resideInAPackage(within(from))
      .should()
      .transitivelyDependOnClassesThat()
      .resideInAnyPackage(to.toList.map(within)*)

  /** The rules that no package reaches one of its level or above, by whatever way. */
  def neverReachesUpwards: List[ArchRule] =
    for
      (level, at) <- levels.zipWithIndex
      name <- level.toList
      others = levels.drop(at).flatten.toSet - name
      if others.nonEmpty
    yield neverReaches(name, others)

  /** Each package under `root` has a place in the order, or is one of `beside`. */
  def isComplete(beside: Set[String] = Set.empty): ArchRule =
    classes()
      .that()
      .resideInAPackage(s"$root.*..")
      .should()
      .resideInAnyPackage((names ++ beside).map(within)*)

  private def within(name: String) = s"$root.$name.."
