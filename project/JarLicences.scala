import sbt._
import sbt.Keys._

/** Puts the licence into each jar: classes, sources and scaladoc. */
object JarLicences extends AutoPlugin {
  override def trigger: PluginTrigger = allRequirements
  override def requires: Plugins = plugins.JvmPlugin

  val place = "META-INF/LICENSE"

  override def projectSettings: Seq[Setting[_]] = Seq(packageBin, packageSrc, packageDoc).map {
    Compile / _ / mappings += (LocalRootProject / baseDirectory).value / "LICENSE" -> place
  }
}
