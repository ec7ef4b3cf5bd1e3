import java.io.File.pathSeparator

import scala.sys.process.Process

import sbt._
import sbt.Keys._

import TestJvms.autoImport.{publishedJar, quickStart}

/** The command `exampleProjects NAME…`: builds and runs projects under examples/ with the published
  * artifacts alone, from a repository in `target/examples`.
  */
object ExampleProjects {
  private val published = taskKey[ExampleProjects]("The examples, with the artifacts published")
  private val publishForExamples =
    taskKey[Unit]("Puts the artifacts, but not the scaladoc, into the repository of the examples")
  private val folder = settingKey[File]("Where the examples are built")

  val settings: Seq[Setting[_]] = Seq(
    Global / commands += command,
    Global / folder := (LocalRootProject / baseDirectory).value / "target" / "examples",
    Global / published := Def
      .sequential(
        Def.task(IO.delete(repository((Global / folder).value))),
        publishForExamples.?.all(ScopeFilter(inAnyProject)),
        Def.task {
          val root = (LocalRootProject / baseDirectory).value
          new ExampleProjects(root, (Global / folder).value, (ThisBuild / version).value)
        }
      )
      .value
  )

  /** Those of a module. */
  val moduleSettings: Seq[Setting[_]] = Seq(
    otherResolvers += MavenCache("examples", repository((Global / folder).value)),
    publishedJar := (Compile / packageBin).value,
    publishForExamples / publishConfiguration := Classpaths.publishConfig(
      publishMavenStyle.value,
      Classpaths.deliverPattern(crossTarget.value),
      if (isSnapshot.value) "integration" else "release",
      ivyConfigurations.value.map(config => ConfigRef(config.name)).toVector,
      Classpaths
        .packaged(Seq(makePom, Compile / packageBin, Compile / packageSrc))
        .value
        .updated((Compile / packageBin / artifact).value, publishedJar.value)
        .toVector,
      (publish / checksums).value.toVector,
      "examples",
      ivyLoggingLevel.value,
      overwrite = true
    ),
    publishForExamples :=
      Classpaths.publishOrSkip(publishForExamples / publishConfiguration, publish / skip).value
  )

  val all = Seq("java", "crawler", "http4s", "service", "kafka", "script")

  private def repository(folder: File): File = folder / "repository"

  private lazy val command = Command.args("exampleProjects", "<name>...") { (state, asked) =>
    val (after, examples) = Project.extract(state).runTask(Global / published, state)
    (if (asked.isEmpty) all else asked).foreach(examples.check)
    after
  }

  /** Each build names the version that it takes where WEIR_VERSION says none: the same in all. */
  private def checkDefaults(examples: File): Unit = {
    val version = """(?:"WEIR_VERSION", "|<weir\.version>|weir-core:)([0-9][^"<\s]*)""".r
    val files = (examples ** ("*.sbt" | "pom.xml" | "ten-pages.scala")).get
    val found = files.flatMap(file => version.findAllMatchIn(IO.read(file)).map(file -> _.group(1)))
    if (found.map(_._2).distinct.size != 1)
      sys.error(
        found.map { case (file, v) => s"$file: $v" }.mkString("different versions:\n", "\n", "")
      )
  }
}

private final class ExampleProjects(root: File, folder: File, version: String) {
  private val java = file(sys.props("java.home"))
  private val uri =
    ExampleProjects.repository(folder).toURI.toString.replaceFirst("^file:/+", "file:///")

  /** The environment of a user whose java is the one of this build. */
  private val environment = Seq(
    "WEIR_VERSION" -> version,
    "JAVA_HOME" -> java.getPath,
    // It is over before more would pay; and its own Guava uses sun.misc.Unsafe.
    "MAVEN_OPTS" -> (quickStart :+ "--sun-misc-unsafe-memory-access=allow").mkString(" "),
    "PATH" -> s"${java / "bin"}$pathSeparator${sys.env.getOrElse("PATH", "")}"
  )

  /** Builds and runs the one with that name. **Fails** if that does. */
  def check(name: String): Unit = {
    ExampleProjects.checkDefaults(root / "examples")
    println(s"\n==> examples/$name")
    val started = System.nanoTime
    name match {
      case "java" => maven()
      case "crawler" | "http4s" | "service" => sbt(root / "examples" / name)
      case "kafka" => sbt(root / "examples" / name, "test")
      case "script" => script(root / "examples" / name / "ten-pages.scala")
      case other =>
        val names = ExampleProjects.all.mkString(", ")
        sys.error(s"there is no example $other. The examples are $names.")
    }
    println(s"examples/$name: passed in ${(System.nanoTime - started) / 1000000000} s")
  }

  private def execute(in: File, command: String*): Unit = {
    val status = Process(command, in, environment: _*).!
    if (status != 0) sys.error(s"$in: ended with $status: ${command.mkString(" ")}")
  }

  /** Another sbt, with the launcher of this one. */
  private def sbt(project: File, command: String = "run"): Unit = {
    val launcher = classOf[xsbti.Launcher].getProtectionDomain.getCodeSource.getLocation
    val jar = new File(launcher.toURI)
    val repositories = folder / "repositories"
    IO.write(repositories, s"[repositories]\n  examples: $uri\n  maven-central\n")
    execute(
      project,
      Seq(
        (java / "bin" / "java").getPath,
        "-Xmx1g",
        "-XX:+UseSerialGC",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        "-Dsbt.server.autostart=false",
        "-Dsbt.color=false",
        "-Dsbt.supershell=false",
        "-Dsbt.override.build.repos=true",
        s"-Dsbt.repository.config=$repositories",
        "-jar",
        jar.getPath,
        command
      ): _*
    )
  }

  private def maven(): Unit = {
    val settings = folder / "settings.xml"
    IO.write(
      settings,
      s"""<settings>
         |  <profiles>
         |    <profile>
         |      <id>examples</id>
         |      <repositories>
         |        <repository>
         |          <id>examples</id>
         |          <url>$uri</url>
         |          <snapshots>
         |            <enabled>true</enabled>
         |            <updatePolicy>always</updatePolicy>
         |          </snapshots>
         |        </repository>
         |      </repositories>
         |    </profile>
         |  </profiles>
         |  <activeProfiles><activeProfile>examples</activeProfile></activeProfiles>
         |</settings>
         |""".stripMargin
    )
    execute(
      root / "examples" / "java",
      "mvn",
      "--batch-mode",
      "--quiet",
      s"--settings=$settings",
      s"-Dmaven.repo.local=${folder / "m2"}",
      s"-Dweir.version=$version",
      "compile",
      "exec:exec"
    )
  }

  /** With scala-cli where there is one; otherwise in an sbt build that is made of the script's own
    * `using` lines.
    */
  private def script(source: File): Unit = {
    val work = folder / "script"
    val text = IO.read(source).replaceAll("(weir-[a-z]+):[0-9].*", s"$$1:$version")
    IO.write(work / source.getName, text)
    if (sys.env("PATH").split(pathSeparator).exists(folder => (file(folder) / "scala-cli").exists))
      execute(work, "scala-cli", "run", "--server=false", "--repository", uri, source.getName)
    else {
      println("scala-cli is not installed: the script is built by sbt, with what its lines ask for")
      val scala = """//> using scala (\S+)""".r.findFirstMatchIn(text).get.group(1)
      val dependencies = """//> using dep (\S+)::(\S+):(\S+)""".r.findAllMatchIn(text)
      val lines = dependencies.map { found =>
        s"""libraryDependencies += "${found.group(1)}" %% "${found.group(2)}" % "${found.group(
            3
          )}""""
      }
      val build = Seq(s"""scalaVersion := "$scala"""", "run / fork := true") ++ lines
      IO.write(work / "build.sbt", build.mkString("", "\n", "\n"))
      IO.write(work / "project" / "build.properties", "sbt.version=1.13.0\n")
      sbt(work)
    }
  }
}
