package weir.rules

import com.tngtech.archunit.base.DescribedPredicate
import com.tngtech.archunit.core.domain.JavaClass
import com.tngtech.archunit.core.domain.JavaClass.Predicates.{
  resideInAPackage,
  resideOutsideOfPackage
}
import com.tngtech.archunit.lang.ArchRule
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses

/** The classes under the package `inner`, and those under `outer` that are not under `inner`, do
  * not know each other. It sees what `PackageOrder` sees.
  */
final class PackagesApart(inner: String, outer: String):
  private val within = resideInAPackage(s"$inner..")
  private val around = resideInAPackage(s"$outer..").and(resideOutsideOfPackage(s"$inner.."))

  def rules: List[ArchRule] = List(knowNone(within, around), knowNone(around, within))

  // A module may have the classes of one of them alone.
  private def knowNone(
      these: DescribedPredicate[JavaClass],
      others: DescribedPredicate[JavaClass]
  ): ArchRule =
    noClasses().that(these).should().dependOnClassesThat(others).allowEmptyShould(true)
