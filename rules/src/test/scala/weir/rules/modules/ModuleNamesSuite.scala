package weir.rules.modules

import java.lang.module.{ModuleDescriptor, ModuleFinder}
import java.nio.file.Files
import java.util.jar.JarFile
import scala.jdk.CollectionConverters.*
import scala.util.Using
import weir.rules.Checkout

/** The artifacts as modules of Java's, by their jars. */
class ModuleNamesSuite extends munit.FunSuite:

  /** The artifacts, as docs/compatibility.md lists them; core's tests compare that with the build.
    */
  private val artifacts: List[String] =
    Files
      .readAllLines(Checkout.root.resolve("docs/compatibility.md"))
      .asScala
      .collect { case s"| `weir-$name` | $_" => s"weir-$name" }
      .toList

  private lazy val found: Map[String, ModuleDescriptor] =
    Modules.names.toList
      .map(Modules.of(_).location)
      .filter(jar => artifacts.exists(name => jar.getFileName.toString.startsWith(s"${name}_3-")))
      .flatMap(jar => ModuleFinder.of(jar).findAll.asScala.map(jar.getFileName.toString -> _))
      .map((file, module) => file.takeWhile(_ != '_') -> module.descriptor)
      .toMap

  test("each artifact names its module, by its own name"):
    assertEquals(found.keySet, artifacts.toSet)
    for (artifact, module) <- found do assertEquals(module.name, artifact.replace('-', '.'))

  test("the name is in the manifest of each jar"):
    for jar <- Modules.names.toList.map(Modules.of(_).location) do
      val attributes = Using.resource(JarFile(jar.toFile))(_.getManifest.getMainAttributes)
      assert(attributes.getValue("Automatic-Module-Name") ne null, s"$jar")

  test("no two artifacts have a package in common"):
    val packages =
      found.toList.flatMap((artifact, module) => module.packages.asScala.map(_ -> artifact))
    val shared = packages.groupMap(_._1)(_._2).filter(_._2.size > 1)
    assertEquals(shared, Map.empty)
