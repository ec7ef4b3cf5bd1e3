import scala.sys.process.{Process, ProcessLogger}
import scala.xml.{Elem, XML}

import com.jsuereth.sbtpgp.PgpKeys
import com.typesafe.tools.mima.plugin.MimaKeys.mimaPreviousArtifacts
import sbt._
import sbt.Keys._
import sbtversionpolicy.SbtVersionPolicyPlugin.autoImport._

/** The command `releaseCheck VERSION`: a dry run of a release, without keys and without a network.
  *
  * Publishes the artifacts as that version, signed with a key that it makes for that, into
  * `target/release/repository`. Then it checks what is there, compares the build with it as the
  * next version will be, builds two examples against it as a stranger would, and writes the notes
  * of the release to `target/release/notes.md`.
  */
object ReleaseCheck {
  val settings: Seq[Setting[_]] = Seq(Global / commands ++= Seq(command, notes))

  private val Version = """(\d+)\.(\d+)\.(\d+)""".r

  private lazy val command = Command.single("releaseCheck") { (state, version) =>
    val next = version match {
      case Version(major, minor, patch) => s"$major.$minor.${patch.toInt + 1}"
      case _ => sys.error(s"releaseCheck: $version is no version such as 0.1.0.")
    }
    val extracted = Project.extract(state)
    val root = extracted.get(LocalRootProject / baseDirectory)
    val folder = root / "target" / "release"
    val repository = folder / "repository"
    IO.delete(folder)
    val gpg = throwawayKey(folder)
    val projects = extracted.structure.allProjectRefs
    val published = projects.filterNot { project =>
      extracted.runTask(project / publish / skip, state)._2
    }

    val releasing = extracted.appendWithSession(
      asVersion(version) ++ projects.flatMap { project =>
        Seq(project / publishTo := Some(MavenCache("release-check", repository)))
      } ++ Seq(
        Global / PgpKeys.gpgCommand := gpg.getPath,
        Global / PgpKeys.pgpPassphrase := None
      ),
      state
    )
    val signed = published.foldLeft(releasing) { (state, project) =>
      Project.extract(state).runTask(project / PgpKeys.publishSigned, state)._1
    }
    val group = extracted.get(ThisBuild / organization).replace('.', '/')
    val artifacts = published.map(project => extracted.get(project / name)).sorted
    val wrong = artifacts.flatMap { artifact =>
      new Published(repository / group, artifact, version, gpg).faults
    }
    wrong.foreach(fault => println(s"releaseCheck: $fault"))

    // Binary compatibility, with a release that is the same.
    val comparing = extracted.appendWithSession(
      asVersion(next) ++ published.flatMap { project =>
        val name = extracted.get(project / Keys.name)
        val before = extracted.get(ThisBuild / organization) %% name % version
        Seq(
          project / versionPolicyPreviousArtifacts := Seq(before),
          project / mimaPreviousArtifacts := Set(before),
          project / resolvers += MavenCache("release-check", repository)
        )
      },
      state
    )
    published.foldLeft(comparing) { (state, project) =>
      Project.extract(state).runTask(project / versionPolicyCheck, state)._1
    }
    println(s"releaseCheck: $next is compatible with $version, as MiMa says")

    val strangers = new ExampleProjects(root, folder, version)
    Seq("java", "crawler", "script").foreach(strangers.check)
    writeNotes(root, folder / "notes.md", version)
    if (wrong.nonEmpty) sys.error(s"releaseCheck: ${wrong.size} faults, see above")
    println(
      s"releaseCheck: ${artifacts.size} artifacts of $version are in $repository: signed, with " +
        "POMs, sources and scaladoc"
    )
    signed
    state
  }

  private def asVersion(version: String): Seq[Setting[_]] =
    Seq(ThisBuild / Keys.version := version, ThisBuild / isSnapshot := false)

  /** Makes a key that is worth nothing, and returns a gpg that signs with it. */
  private def throwawayKey(folder: File): File = {
    val home = folder / "gnupg"
    home.mkdirs()
    home.setReadable(false, false)
    home.setReadable(true, true)
    home.setExecutable(false, false)
    home.setExecutable(true, true)
    val gpg = folder / "gpg"
    IO.write(
      gpg,
      s"""#!/bin/sh
         |exec gpg --homedir '$home' --batch --pinentry-mode loopback --passphrase '' "$$@"
         |""".stripMargin
    )
    gpg.setExecutable(true)
    val user = "Weir, a check of the release <nobody@example.org>"
    run(Seq(gpg.getPath, "--quick-gen-key", user, "ed25519", "sign", "1d"))
    gpg
  }

  private[this] def run(command: Seq[String]): Unit = {
    val lines = Seq.newBuilder[String]
    val status = Process(command).!(ProcessLogger(lines += _, lines += _))
    if (status != 0) sys.error(s"${command.mkString(" ")} ended with $status:\n${lines.result()}")
  }

  /** The command `releaseNotes VERSION`: prints what the changelog says about a version. The
    * workflow of the release makes its page with it.
    */
  private lazy val notes = Command.single("releaseNotes") { (state, version) =>
    val root = Project.extract(state).get(LocalRootProject / baseDirectory)
    writeNotes(root, root / "target" / "release-notes.md", version)
    state
  }

  /** Writes the section of `version`, or the one of what is not released yet if it has none. Its
    * links to files lead to those of that version: the page of a release is at another place.
    */
  private def writeNotes(root: File, to: File, version: String): Unit = {
    val lines = IO.readLines(root / "CHANGELOG.md")
    def section(title: String) = lines
      .dropWhile(line => line != s"## $title" && !line.startsWith(s"## $title "))
      .drop(1)
      .takeWhile(!_.startsWith("## "))
    val found = Seq(version, "Unreleased").map(section).find(_.exists(_.trim.nonEmpty))
    val files = s"https://github.com/weir-scala/weir/blob/v$version"
    val notes = found
      .getOrElse(sys.error(s"CHANGELOG.md has no section $version."))
      .map(_.replaceAll("""\]\((?![a-z]+:|#)""", s"]($files/"))
    IO.writeLines(to, notes)
    println(s"releaseCheck: the notes of $version are in $to")
  }
}

/** The published files of an artifact. */
private final class Published(group: File, artifact: String, version: String, gpg: File) {
  private val folder = group / s"${artifact}_3" / version
  private def file(ending: String) = folder / s"${artifact}_3-$version$ending"
  private val endings = Seq(".pom", ".jar", "-sources.jar", "-javadoc.jar")

  /** Returns a line for each fault. */
  def faults: Seq[String] = {
    val missing = endings.filterNot(file(_).isFile)
    if (missing.nonEmpty) missing.map(ending => s"${file(ending)} is missing")
    else endings.flatMap(signature) ++ pom(XML.loadFile(file(".pom"))) ++ contents
  }

  private def signature(ending: String): Option[String] = {
    val asc = file(s"$ending.asc")
    val silent = ProcessLogger(_ => (), _ => ())
    val command = Seq(gpg.getPath, "--verify", asc.getPath, file(ending).getPath)
    if (asc.isFile && Process(command).!(silent) == 0) None
    else Some(s"${file(ending)} is not signed, or not well")
  }

  private def pom(xml: Elem): Seq[String] = {
    // The requirements of Maven Central.
    val needed = Seq("name", "description", "url", "licenses", "scm", "developers")
    val lacking = needed.filter(tag => (xml \ tag).text.trim.isEmpty)
    val parts = Seq(
      xml \ "licenses" \ "license" \ "name",
      xml \ "licenses" \ "license" \ "url",
      xml \ "scm" \ "url",
      xml \ "scm" \ "connection",
      xml \ "developers" \ "developer" \ "name"
    )
    val dependencies = (xml \ "dependencies" \ "dependency").map { dependency =>
      val scope = (dependency \ "scope").text
      ((dependency \ "artifactId").text, (dependency \ "version").text, scope)
    }
    val snapshots = dependencies.filter { case (name, of, _) =>
      of.contains("SNAPSHOT") || name.startsWith("weir-") && of != version
    }
    val tests = dependencies.filter { case (name, _, scope) =>
      scope == "test" ||
      scope != "provided" && Seq("munit", "scalacheck").exists(name.startsWith)
    }
    lacking.map(tag => s"the POM of $artifact has no $tag") ++
      (if (parts.forall(_.text.trim.nonEmpty)) Nil
       else Seq(s"the POM of $artifact lacks a part of its licences, SCM or developers")) ++
      (snapshots ++ tests).map { case (name, of, scope) =>
        s"the POM of $artifact asks for $name $of $scope"
      } ++
      (if ((xml \ "version").text == version) Nil else Seq(s"the POM of $artifact is of another"))
  }

  private def contents: Seq[String] = {
    def names(ending: String) = {
      val jar = new java.util.jar.JarFile(file(ending))
      try {
        val found = Seq.newBuilder[String]
        jar.stream.forEach(entry => found += entry.getName)
        found.result()
      } finally jar.close()
    }
    val jars = Seq(".jar", "-sources.jar", "-javadoc.jar")
    val wanted = Seq(
      ".jar" -> ".class",
      ".jar" -> ".tasty",
      "-sources.jar" -> ".scala",
      "-javadoc.jar" -> "index.html"
    ) ++ jars.map(_ -> JarLicences.place)
    val holdsJars = names(".jar").exists(_.endsWith(".jar"))
    (wanted ++ Seq(".jar" -> NodeJars.thirdParty).filter(_ => holdsJars)).collect {
      case (ending, part) if !names(ending).exists(_.endsWith(part)) =>
        s"${file(ending)} has nothing that ends with $part"
    }
  }
}
