import sbt._
import sbt.Keys._

/** `./weir test coverage [MODULE...]`: runs the tests of the published modules, or of some, under
  * JaCoCo's agent, and writes which of the modules' lines they ran, as pages in `target/coverage`.
  *
  * JaCoCo takes the class files as they are, so nothing is compiled anew. It adds a field and a
  * method to each class, which tests that count fields or bytes of the heap notice: such a test may
  * fail here, and the report is written all the same.
  */
object Coverage {
  private val version = "0.8.15"

  /** Returns the state in which test JVMs record, and the modules whose tests are to run in it. */
  def begin(state: State, chosen: Seq[String]): (State, Seq[String]) = {
    val extracted = Project.extract(state)
    val folder = to(extracted)
    IO.delete(folder)
    IO.createDirectory(folder)
    val agent = jar(state, "org.jacoco.agent", "runtime", folder)
    val flag = s"-javaagent:$agent=destfile=${data(folder)},includes=weir.*"
    val modules =
      if (chosen.isEmpty) published(state)
      else extracted.structure.allProjectRefs.filter(module => chosen.contains(module.project))
    val flags = modules.map(module => module / Test / javaOptions += flag)
    (extracted.appendWithSession(flags, state), modules.map(_.project))
  }

  lazy val report: Command = Command.args("coverageReport", "<module>...") { (state, chosen) =>
    val extracted = Project.extract(state)
    val folder = to(extracted)
    val cli = jar(state, "org.jacoco.cli", "nodeps", folder)
    val modules =
      extracted.structure.allProjectRefs.filter(module => chosen.contains(module.project))
    val classes = modules.map(module => extracted.get(module / Compile / classDirectory))
    val sources =
      modules.flatMap(module => extracted.get(module / Compile / unmanagedSourceDirectories))
    val arguments = Seq("-jar", cli.toString, "report", data(folder).toString) ++
      classes.filter(_.exists).flatMap(one => Seq("--classfiles", one.toString)) ++
      sources.filter(_.exists).flatMap(one => Seq("--sourcefiles", one.toString)) ++
      Seq("--name", "Weir", "--html", folder.toString, "--csv", s"$folder/coverage.csv")
    val code = Fork.java(ForkOptions(), arguments)
    if (code == 0) println(s"the report begins at $folder/index.html")
    if (code == 0) state else state.fail
  }

  private def to(extracted: Extracted): File =
    extracted.get(ThisBuild / baseDirectory) / "target" / "coverage"

  private def data(folder: File): File = folder / "jacoco.exec"

  private def published(state: State): Seq[ProjectRef] = {
    val extracted = Project.extract(state)
    extracted.structure.allProjectRefs.sortBy(_.project).filterNot { project =>
      extracted.runTask(project / publish / skip, state)._2
    }
  }

  private def jar(state: State, artifact: String, classifier: String, folder: File): File = {
    val extracted = Project.extract(state)
    val core = LocalProject("core")
    val resolution = extracted.runTask(core / dependencyResolution, state)._2
    val module = ("org.jacoco" % artifact % version).classifier(classifier).intransitive()
    resolution
      .retrieve(module, None, folder / "jars", state.log)
      .fold(warning => throw warning.resolveException, _.find(_.getName.contains(classifier)).get)
  }
}
