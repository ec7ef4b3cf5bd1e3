package weir.rules

import com.tngtech.archunit.ArchConfiguration
import com.tngtech.archunit.core.domain.JavaClasses
import com.tngtech.archunit.core.importer.ClassFileImporter
import com.tngtech.archunit.lang.ArchRule
import java.nio.file.{Files, Path}
import java.util.jar.JarFile
import scala.jdk.CollectionConverters.*

/** A module as it was compiled, without its tests.
  *
  * @param location
  *   the module's jar, or the folder of its class files
  */
final class CompiledModule(val location: Path):

  lazy val classes: JavaClasses =
    CompiledModule.configured
    val importer = ClassFileImporter()
    if Files.isDirectory(location) then importer.importPath(location)
    else
      val jar = JarFile(location.toFile)
      try importer.importJar(jar)
      finally jar.close()

  /** Returns a line for each place that breaks the rule; empty if the module keeps it. */
  def breaking(rule: ArchRule): List[String] =
    rule.evaluate(classes).getFailureReport.getDetails.asScala.toList

object CompiledModule:

  /** Returns the module that `witness` is a class of. */
  def of(witness: Class[?]): CompiledModule =
    CompiledModule(Path.of(witness.getProtectionDomain.getCodeSource.getLocation.toURI))

  // The rules are about the classes of a module and the names that these mention. Without this
  // ArchUnit would read the JDK, the standard library and every other class mentioned.
  private lazy val configured: Unit =
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false)
