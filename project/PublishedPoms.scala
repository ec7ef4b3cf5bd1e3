import scala.xml.Node
import scala.xml.transform.{RewriteRule, RuleTransformer}

import sbt._
import sbt.Keys._

/** Leaves the dependencies of tests out of the POMs: some of them are modules that are not
  * published.
  */
object PublishedPoms extends AutoPlugin {
  override def trigger: PluginTrigger = allRequirements
  override def requires: Plugins = plugins.JvmPlugin

  override def projectSettings: Seq[Setting[_]] = Seq(
    pomPostProcess := (new RuleTransformer(WithoutTests)(_))
  )

  private object WithoutTests extends RewriteRule {
    override def transform(node: Node): Seq[Node] =
      if (node.label == "dependency" && (node \ "scope").text == "test") Nil else Seq(node)
  }
}
