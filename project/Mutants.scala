import java.io.File.pathSeparator
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import sbt._
import sbt.Keys._

/** The command `mutants`, which `./weir test mutants MODULE` runs: it makes mutants, each a change
  * of a few lines of the sources, and checks that the suites named for each fail.
  *
  * The mutants are in `src/test/mutants/` of the module: see `MutantTable`. The sources stay as
  * they are: a changed file is compiled alone, against the classes of the module, into a copy of
  * these, which is then the first on the class path of the suites. So a mutant takes seconds. The
  * copy has all classes, since Weir knows its own by the place where they were loaded from.
  *
  * First each suite runs without a mutant. It has to pass, and the time that it takes sets the
  * limit for its mutants: a suite that runs much longer has noticed one, since it goes on for ever.
  * A test that waits for ever fails after a few seconds: see `FirstFailure`.
  */
object Mutants {

  /** The means to make and test the mutants of a module. */
  private final case class Bench(
      sources: File,
      classes: Seq[File],
      compile: (Seq[File], File) => Boolean,
      run: (Seq[File], Seq[String], FiniteDuration, File) => Ended,
      folder: File
  )

  /** The end of a run of suites: the tests that failed, and if it was within the limit of time. */
  private final case class Ended(failed: Seq[String], inTime: Boolean, took: FiniteDuration) {
    def passed: Boolean = failed.isEmpty && inTime
    def said: String = if (inTime) failed.mkString("; ") else s"the limit of ${took.toSeconds} s"
  }

  private sealed trait Verdict
  private case object Killed extends Verdict
  private case object Survived extends Verdict
  private final case class Wrong(why: String) extends Verdict

  lazy val command: Command = Command.args("mutants", "<module> <name>...") { (state, words) =>
    words.toList match {
      case module :: names if Verify.modules.contains(module) =>
        val table = MutantTable.read(tables(state, module))
        names.filterNot(table.map(_.name).toSet) match {
          case Nil =>
            val chosen =
              if (names.isEmpty) table else names.flatMap(name => table.find(_.name == name))
            test(chosen, bench(state, module), state)
          case unknown => refused(state, s"there is no mutant ${unknown.mkString(", ")}")
        }
      case _ => refused(state, "name a module that has mutants, for example core")
    }
  }

  /** The command `mutantsFit`, a step of the tests of each module: the lines of each mutant occur
    * once in the sources. So a change of such a line fails before the mutants run.
    */
  lazy val fit: Command = Command.single("mutantsFit") { (state, module) =>
    val sources = Project.extract(state).get(LocalProject(module) / Compile / scalaSource) / "weir"
    val mutants = MutantTable.read(tables(state, module))
    val wrong = for {
      mutant <- mutants
      why <- mutant.applied(IO.read(sources / mutant.file)).left.toOption
    } yield s"mutant ${mutant.name} of $module, $why"
    wrong.foreach { text =>
      println(text)
      Verify.Counts.failed.incrementAndGet()
      Verify.Counts.failures.add(text)
    }
    if (mutants.nonEmpty)
      println(s"mutants of $module: ${mutants.size - wrong.size} of ${mutants.size} fit")
    if (wrong.isEmpty) state else state.fail
  }

  private def refused(state: State, why: String): State = {
    System.err.println(s"weir test mutants: $why.")
    state.fail
  }

  private def tables(state: State, module: String): Seq[File] = {
    val folder = Project.extract(state).get(LocalProject(module) / Test / sourceDirectory)
    (folder / "mutants" ** "*.txt").get().sorted
  }

  private def test(mutants: Seq[Mutant], bench: Bench, state: State): State = {
    val alone = mutants.flatMap(_.suites).distinct.map(suite => suite -> timeOf(suite, bench)).toMap
    val verdicts = mutants.map { mutant =>
      val suites = mutant.suites.map(alone)
      val verdict = suites
        .collectFirst { case Left(why) => Wrong(why) }
        .getOrElse(
          judge(mutant, limit(suites.collect { case Right(time) => time }), bench)
        )
      count(mutant, verdict)
      verdict
    }
    val (killed, survived) = (verdicts.count(_ == Killed), verdicts.count(_ == Survived))
    val wrong = verdicts.size - killed - survived
    val rest = if (wrong == 0) "" else s", $wrong not tested"
    println(s"mutants: $killed killed, $survived survived$rest")
    if (killed == verdicts.size && killed > 0) state else state.fail
  }

  private def count(mutant: Mutant, verdict: Verdict): Unit = {
    def failed(what: String) = {
      println(s"$what ${mutant.name}")
      Verify.Counts.failed.incrementAndGet()
      Verify.Counts.failures.add(s"$what: mutant ${mutant.name} of ${mutant.file}: ${mutant.why}")
    }
    verdict match {
      case Killed => Verify.Counts.passed.incrementAndGet()
      case Survived => failed("SURVIVED")
      case Wrong(why) => failed(s"NOT TESTED, $why,")
    }
  }

  /** Returns the time that a suite takes without a mutant, or the reason why it cannot be used. */
  private def timeOf(suite: String, bench: Bench): Either[String, FiniteDuration] = {
    val ended = bench.run(Nil, Seq(suite), longest, bench.folder / "alone" / s"$suite.log")
    println(s"$suite without a mutant: ${ended.took.toSeconds} s")
    if (ended.passed) Right(ended.took)
    else Left(s"since $suite fails without it, by ${ended.said}")
  }

  /** Returns the limit of time with a mutant for suites that take `times` without one. */
  private def limit(times: Seq[FiniteDuration]): FiniteDuration =
    (times.reduce(_ + _) * 2 + 8.seconds).min(longest)

  private val longest = 2.minutes

  private def judge(mutant: Mutant, limit: FiniteDuration, bench: Bench): Verdict = {
    val folder = bench.folder / mutant.name
    IO.delete(folder)
    val source = bench.sources / mutant.file
    mutant.applied(IO.read(source)) match {
      case Left(why) => Wrong(why)
      case Right(text) =>
        val changed = folder / "source" / source.getName
        IO.write(changed, text)
        val classes = folder / "classes"
        bench.classes.foreach(IO.copyDirectory(_, classes))
        if (!bench.compile(changed +: mutant.also.map(bench.sources / _), classes))
          Wrong("which does not compile")
        else {
          val ended = bench.run(Seq(classes), mutant.suites, limit, folder / "tests.log")
          IO.delete(classes)
          if (ended.passed) Survived
          else {
            println(s"killed ${mutant.name}, in ${ended.took.toSeconds} s, by ${ended.said}")
            Killed
          }
        }
    }
  }

  private def bench(state: State, module: String): Bench = {
    val (extracted, project) = (Project.extract(state), LocalProject(module))
    def result[A](key: TaskKey[A]): A = extracted.runTask(key, state)._2
    val classPath = result(project / Test / fullClasspath).files
    val classes = result(project / Compile / fullClasspath).files ++
      result(project / Compile / dependencyClasspath).files
    // A mutant may leave values unused.
    val options = result(project / Compile / scalacOptions).filterNot(_.startsWith("-W"))
    val compiler = new Dotc(result(project / Compile / scalaInstance).loader)
    val fork = result(project / Test / forkOptions)
    val folder = extracted.get(project / target) / "mutants"
    Bench(
      sources = extracted.get(project / Compile / scalaSource) / "weir",
      classes = result(project / Compile / products),
      compile = (files, to) => compiler.run(options :+ "-nowarn", classes, files, to),
      run = (first, suites, limit, log) => runSuites(fork, first ++ classPath, suites, limit, log),
      folder = folder
    )
  }

  /** The compiler, warm after the first mutant. */
  private final class Dotc(loader: ClassLoader) {
    private val main = loader.loadClass("dotty.tools.dotc.Main")
    private val process = main.getMethod("process", classOf[Array[String]])

    /** False if the files do not compile; the compiler has printed why. */
    def run(options: Seq[String], classPath: Seq[File], files: Seq[File], to: File): Boolean = {
      val places = Seq("-classpath", classPath.mkString(pathSeparator), "-d", to.getPath)
      val reporter = process.invoke(null, (options ++ places ++ files.map(_.getPath)).toArray)
      !reporter.getClass.getMethod("hasErrors").invoke(reporter).asInstanceOf[Boolean]
    }
  }

  private def runSuites(
      fork: ForkOptions,
      classPath: Seq[File],
      suites: Seq[String],
      limit: FiniteDuration,
      log: File
  ): Ended = {
    IO.createDirectory(log.getParentFile)
    val java = fork.javaHome.getOrElse(file(sys.props("java.home"))) / "bin" / "java"
    // The archive of classes is for another class path; the long tier's sizes are for its own run.
    val options = fork.runJVMOptions.filterNot(option =>
      Seq("-XX:SharedArchiveFile", "-XX:+AutoCreate", "-Xlog", "-Dweir.long").exists(
        option.startsWith
      )
    )
    val line = (java.getPath +: options) ++ Seq("-cp", classPath.mkString(pathSeparator)) ++
      ("weir.testlimit.FirstFailure" +: suites.map("weir." + _))
    val builder = new ProcessBuilder(line.asJava).redirectErrorStream(true).redirectOutput(log)
    fork.workingDirectory.foreach(builder.directory(_))
    val start = System.nanoTime
    val process = builder.start()
    val inTime =
      try process.waitFor(limit.toMillis, TimeUnit.MILLISECONDS)
      finally
        if (process.isAlive) {
          process.descendants.forEach(child => { child.destroyForcibly(); () })
          process.destroyForcibly()
        }
    val took = (System.nanoTime - start).nanos
    val names = IO.readLines(log).filter(_.startsWith("FAILED: ")).map(_.stripPrefix("FAILED: "))
    val failed =
      if (!inTime || process.exitValue == 0) Nil
      else if (names.isEmpty) Seq(s"exit code ${process.exitValue}")
      else names
    Ended(failed, inTime, took)
  }
}
