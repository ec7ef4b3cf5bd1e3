import sbt._
import sbt.Keys._

/** The command `publishEverywhere`, which `./weir publish-local` runs: puts the artifacts into the
  * local Ivy and Maven repositories, and prints the lines for a build.
  */
object PublishLocal {
  val settings: Seq[Setting[_]] = Seq(
    Global / commands ++= Seq(everywhere, lines)
  )

  private lazy val everywhere =
    Command.command("publishEverywhere")("publishLocal" :: "publishM2" :: "publishedLines" :: _)

  private lazy val lines = Command.command("publishedLines") { state =>
    val extracted = Project.extract(state)
    val published = extracted.structure.allProjectRefs.sortBy(_.project).filterNot { project =>
      extracted.runTask(project / publish / skip, state)._2
    }
    val group = extracted.get(ThisBuild / organization)
    val version = extracted.get(ThisBuild / Keys.version)
    val core = extracted.get(LocalProject("core") / name)
    val others = published.map(project => extracted.get(project / name)).filterNot(_ == core)
    println(
      s"""
         |Published $core and ${others.mkString(", ")}, $version.
         |
         |sbt        libraryDependencies += "$group" %% "$core" % "$version"
         |Mill       mvn"$group::$core:$version"
         |scala-cli  //> using dep $group::$core:$version
         |Maven      <dependency>
         |             <groupId>$group</groupId>
         |             <artifactId>${core}_3</artifactId>
         |             <version>$version</version>
         |           </dependency>
         |examples/  export WEIR_VERSION=$version
         |
         |They need Scala ${extracted.get(
          ThisBuild / scalaVersion
        )} or newer, and JDK 25 or newer.""".stripMargin
    )
    state
  }
}
