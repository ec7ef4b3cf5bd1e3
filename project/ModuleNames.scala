import sbt._
import sbt.Keys._

/** The name of each artifact as a module of Java's: that of the artifact, with dots. It is in the
  * manifest, since a name that Java makes of the file's name would have `_3` in it.
  */
object ModuleNames extends AutoPlugin {
  override def trigger: PluginTrigger = allRequirements
  override def requires: Plugins = plugins.JvmPlugin

  override def projectSettings: Seq[Setting[_]] = Seq(
    Compile / packageBin / packageOptions +=
      Package.ManifestAttributes("Automatic-Module-Name" -> name.value.replace('-', '.')),
    // No jar is started by itself. sbt looks for its program, and warns if there are several.
    Compile / packageBin / mainClass := None,
    Test / packageBin / mainClass := None
  )
}
