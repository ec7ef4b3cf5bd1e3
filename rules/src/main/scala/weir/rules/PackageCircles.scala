package weir.rules

import com.tngtech.archunit.base.DescribedPredicate
import com.tngtech.archunit.core.domain.JavaClass
import com.tngtech.archunit.lang.ArchRule
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices

/** The packages under `root`, each by itself, depend on each other in no circle. The classes of
  * `root` itself are left out.
  *
  * @param known
  *   the uses of one package by another that are there today and close a circle
  */
final class PackageCircles(root: String, known: List[PackageCircles.Use] = Nil):
  import PackageCircles.*

  def none: ArchRule = without(known)

  /** Those of `known` without which there is no circle more: they can leave the list. */
  def superfluous(module: CompiledModule): List[Use] =
    known.filter(use => module.breaking(without(known.filterNot(_ == use))).isEmpty)

  private def without(uses: List[Use]): ArchRule =
    uses.foldLeft(slices().matching(s"$root.(**)").should().beFreeOfCycles()): (rule, use) =>
      rule.ignoreDependency(in(s"$root.${use.by}"), in(s"$root.${use.of}"))

  private def in(name: String): DescribedPredicate[JavaClass] =
    DescribedPredicate.describe(s"in $name", _.getPackageName == name)

object PackageCircles:
  /** The package `by` uses the package `of`. */
  final case class Use(by: String, of: String)
