import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.sys.process.{Process, ProcessLogger}
import scala.util.Try

import org.scalafmt.sbt.ScalafmtPlugin.autoImport.{
  scalafmtCheckAll,
  scalafmtFilter,
  scalafmtSbtCheck
}
import sbt._
import sbt.Keys._
import sbt.testing.{Status, TestSelector}
import sbtversionpolicy.SbtVersionPolicyPlugin.autoImport.versionPolicyCheck

/** The command `verify`, which `./weir test` runs: every check as a step, then the totals.
  *
  * Where all is checked, this is one step, since tests wait half of the time: for clocks, for
  * servers, for other JVMs. The longest of them begin while code is compiled. The code of the docs
  * is compiled beside the others.
  *
  * A failed step does not keep the others from running, so that one run shows all failures. The
  * tests that failed are listed again at the end, since a log may be cut at its front. The last
  * line is `N passed, N failed`, and is left out if it would not be true.
  */
object Verify {

  /** Set by `./weir test --long`. */
  def isLong: Boolean = sys.props.get("weir.long").contains("true")

  // The checks that are no module's tests.
  private val docs = "docs"
  private val examples = "examples"

  /** The module with the longest tests, which wait nearly all the time: they begin once they are
    * compiled, beside what computes.
    */
  private val early = "kafka"

  /** Chains that run side by side, once all is compiled. In each chain the modules of the second
    * part begin once the first has ended, and nothing else waits for anything but a free place for
    * its JVM. The first parts have more JVMs than may run at a time: sbt chooses which of them
    * begin. The long ones come before the short ones, so that none is alone for long in the end.
    */
  private val chains = Seq(
    "core" -> Seq("testkit", "cats", "fs2Interop", "interopTests"),
    "feeds" -> Seq("postgres", "lab", "rules", "otel", "kafkaBroker"),
    "cli" -> (Seq("postgresQueue", "bench", "benchCe2", "http", "kafkaTestkit", "console") ++
      Seq("tapir", docs, "sttp") ++
      Seq("micrometer", "slf4j", "csv", "json", "zstd", "cron", "program", "testLimit"))
  )

  private val chained = early +: chains.flatMap { case (first, later) => first +: later }

  val modules: Seq[String] = chained.filter(_ != docs)

  /** The checks that failed, each with its name. */
  private type Failures = Seq[(String, Incomplete)]

  private val computed = TaskKey[Failures]("computed", "Compiles all, and checks its format")
  private val checked = TaskKey[Failures]("checked", "Runs each check, and returns which failed")

  private val stageLab = TaskKey[File]("stageLab")
  private val archiveClasses = TaskKey[Unit]("archiveClasses")

  private def check(name: String): TaskKey[Unit] = name match {
    case `docs` => LocalProject(name) / TaskKey[Unit](if (isLong) "site" else "siteLinks")
    case _ => LocalProject(name) / Test / test
  }

  val settings: Seq[Setting[_]] = Seq(
    Global / commands ++= Seq(verify, step, stepFailed, allChecks, totals) ++
      Seq(Mutants.command, Mutants.fit, Coverage.report),
    Global / testListeners += Counts,
    ThisBuild / scalafmtFilter := formatFilter((ThisBuild / baseDirectory).value),
    Global / computed := together(computations).value,
    Global / checked := together(Seq(tests(early), inTurn(Global / computed, others))).value
  )

  /** Selects the files whose format is checked. In continuous integration these are the files that
    * the last commits have changed: all of them take 45 s of a processor. The long tier checks all,
    * and so do other machines, where sbt knows which files it has checked before.
    */
  private def formatFilter(root: File): String = {
    val before = "HEAD~100"
    val difference = Process(Seq("git", "diff", "--quiet", before, "--", ".scalafmt.conf"), root)
    def hasSameRules = Try(difference.!(ProcessLogger(_ => ()))).toOption.contains(0)
    if (!isLong && isContinuous && hasSameRules) s"diff-ref=$before" else ""
  }

  private def isContinuous: Boolean = sys.env.get("CI").contains("true")

  private def others: Def.Initialize[Task[Failures]] = together(chains.map { case (first, later) =>
    inTurn(tests(first), together(later.map(tests)))
  })

  /** The checks that compute and do not wait, and the files that long tests begin with. */
  private def computations: Seq[Def.Initialize[Task[Failures]]] = {
    def of[A](module: String, task: TaskKey[A]) =
      failures(s"$module/${task.key.label}", LocalProject(module) / task)
    Seq(
      failures("scalafmtCheckAll", everywhere(scalafmtCheckAll)),
      failures("scalafmtSbtCheck", everywhere(scalafmtSbtCheck)),
      failures("Test/compile", everywhere(Test / compile)),
      failures("versionPolicyCheck", everywhere(versionPolicyCheck)),
      of("cli", stageLab),
      of("lab", stageLab),
      of("core", archiveClasses),
      of("cli", archiveClasses),
      of("feeds", archiveClasses)
    )
  }

  private def everywhere[A](task: TaskKey[A]): Def.Initialize[Task[Seq[Option[A]]]] =
    task.?.all(ScopeFilter(inAnyProject))

  private def tests(name: String): Def.Initialize[Task[Failures]] =
    failures(if (modules.contains(name)) s"$name/test" else name, check(name))

  private def failures[A](
      name: String,
      task: Def.Initialize[Task[A]]
  ): Def.Initialize[Task[Failures]] = Def.task {
    task.result.value.toEither.left.toSeq.map(name -> _)
  }

  private def together(
      tasks: Seq[Def.Initialize[Task[Failures]]]
  ): Def.Initialize[Task[Failures]] = Def.task(tasks.joinWith(_.join).value.flatten)

  /** The second begins once the first has ended. */
  private def inTurn(
      first: Def.Initialize[Task[Failures]],
      second: Def.Initialize[Task[Failures]]
  ): Def.Initialize[Task[Failures]] = Def.taskDyn {
    val failed = first.value
    Def.task(failed ++ second.value)
  }

  /** Tells when the tests of a module run: to be added to its listeners. */
  def clock(module: String): TestReportListener = new TestReportListener {
    override def testEvent(event: TestEvent): Unit = {
      val took = event.detail.map(_.duration.max(0)).sum.millis.toNanos
      val now = System.nanoTime - start
      Counts.spans.merge(module, (now - took, now), (a, b) => (a._1 min b._1, a._2 max b._2))
    }
    override def startGroup(name: String): Unit = ()
    override def endGroup(name: String, problem: Throwable): Unit = ()
    override def endGroup(name: String, result: TestResult): Unit = ()
  }

  private val start = System.nanoTime
  private val failedSteps = List.newBuilder[String]
  private val unfinished = List.newBuilder[String]

  /** Of all steps so far, the mutants too. */
  object Counts extends TestReportListener {
    val passed, failed, skipped = new AtomicInteger
    val suites = ConcurrentHashMap.newKeySet[String]
    val failures = new ConcurrentLinkedQueue[String]
    val millis = new ConcurrentHashMap[String, Long]

    /** When the first test of a module began and the last one ended, in nanoseconds. */
    val spans = new ConcurrentHashMap[String, (Long, Long)]

    override def testEvent(event: TestEvent): Unit = event.detail.foreach { test =>
      millis.put(nameOf(test), test.duration)
      test.status match {
        case Status.Success => passed.incrementAndGet()
        case Status.Failure | Status.Error =>
          failed.incrementAndGet()
          failures.add(described(test))
        case Status.Skipped | Status.Ignored | Status.Canceled | Status.Pending =>
          skipped.incrementAndGet()
      }
    }
    override def startGroup(name: String): Unit = ()
    override def endGroup(name: String, problem: Throwable): Unit = ()
    override def endGroup(name: String, result: TestResult): Unit = suites.add(name)

    /** From the first test of each module to its last, the module first that began first. */
    def moduleTimes: Seq[String] =
      spans.asScala.toSeq.sortBy(_._2._1).map { case (module, (from, to)) =>
        s"module $module: ${shown(to - from)}, from ${shown(from)} to ${shown(to)}"
      }

    /** The slowest steps, to find out why the whole is slow. */
    def slowest: Seq[String] =
      millis.asScala.toSeq.sortBy(-_._2).take(10).map { case (name, time) =>
        f"${time / 1000.0}%.0f s $name"
      }
  }

  private def nameOf(test: sbt.testing.Event): String = test.selector match {
    case one: TestSelector => one.testName
    case _ => test.fullyQualifiedName
  }

  /** Returns the name of a test and what it said, without the stack: that stands where it failed.
    */
  private def described(test: sbt.testing.Event): String = {
    val said = if (test.throwable.isDefined) s"${test.throwable.get.getMessage}" else ""
    (s"failed: ${nameOf(test)}" +: said.linesIterator.map("  " + _).toSeq).mkString("\n")
  }

  private lazy val verify = Command.args("verify", "<module>...") { (state, chosen) =>
    val known = modules ++ Seq(docs, examples)
    val mutants = chosen.headOption.contains("mutants")
    val coverage = chosen.headOption.contains("coverage")
    val named = if (coverage) chosen.tail else chosen
    (if (mutants) Nil else named.filterNot(known.contains)) match {
      case Nil if mutants => s"step ${chosen.mkString(" ")}" :: "totals" :: state
      case Nil if coverage =>
        val (covered, modules) = Coverage.begin(state, named)
        modules.map(module => s"step $module/test").toList :::
          s"step coverageReport ${modules.mkString(" ")}" :: "totals" :: covered
      case Nil => steps(chosen).map("step " + _).toList ::: "totals" :: state
      case unknown =>
        System.err.println(
          s"weir test: there is no module ${unknown.mkString(", ")}. " +
            s"The modules are ${known.sorted.mkString(", ")}."
        )
        state.fail
    }
  }

  private def steps(chosen: Seq[String]): Seq[String] =
    if (chosen.isEmpty)
      Seq("mutantsFit core", "allChecks") ++
        (if (isLong) Seq("exampleProjects", "mutants core") else Nil)
    else
      chosen.flatMap {
        case `docs` => Seq("docs/siteLinks")
        case `examples` => Seq("exampleProjects")
        case module =>
          s"mutantsFit $module" +:
            Seq("scalafmtCheckAll", "Test/compile", "test").map(s"$module/" + _)
      }

  private def elapsed: String = shown(System.nanoTime - start)

  private def shown(nanos: Long): String = {
    val time = nanos.nanos
    f"${time.toMinutes}:${time.toSeconds % 60}%02d"
  }

  // When a command fails, sbt runs `onFailure` and goes on after the next `resumeFromFailure`.
  private lazy val step = Command.single("step") { (state, command) =>
    println(s"\n==> sbt $command (at $elapsed)")
    val failed = Exec(s"stepFailed $command", None)
    command :: "resumeFromFailure" :: state.copy(onFailure = Some(failed))
  }

  private lazy val stepFailed = Command.single("stepFailed") { (state, command) =>
    failed(state, command)
    state
  }

  private def failed(state: State, command: String): Unit = {
    failedSteps += command
    if (command.endsWith("/test"))
      unfinished ++= unfinishedSuites(state, command.stripSuffix("/test"))
  }

  private lazy val allChecks = Command.command("allChecks") { state =>
    val (after, failures) = Project.extract(state).runTask(Global / checked, state)
    for ((name, cause) <- failures) {
      Incomplete.allExceptions(cause).foreach(error => println(s"$name: $error"))
      failed(after, name)
    }
    after
  }

  /** The suites that a test JVM that died, or code that does not compile, kept from running. */
  private def unfinishedSuites(state: State, module: String): Seq[String] =
    Try(Project.extract(state).runTask(LocalProject(module) / Test / definedTests, state)._2)
      .map(_.map(_.name).filterNot(Counts.suites.asScala))
      .getOrElse(Seq(s"all of $module"))

  private lazy val totals = Command.command("totals") { state =>
    val (steps, lost) = (failedSteps.result(), unfinished.result())
    println()
    Counts.failures.forEach(println(_))
    Counts.moduleTimes.foreach(println(_))
    println(s"after $elapsed; the slowest tests: ${Counts.slowest.mkString("\n  ", "\n  ", "")}")
    if (Counts.skipped.get > 0) println(s"${Counts.skipped} skipped")
    val mayNotSkip = isContinuous && Counts.skipped.get > 0
    if (mayNotSkip)
      println("Where CI=true nothing may be skipped: install what the skipped tests need.")
    if (steps.nonEmpty) println(steps.mkString("failed steps: ", ", ", ""))
    if (lost.nonEmpty) println(lost.mkString("no totals, since these did not finish: ", ", ", ""))
    else println(s"${Counts.passed} passed, ${Counts.failed} failed")
    val end = state.copy(onFailure = None)
    if (steps.isEmpty && !mayNotSkip) end else end.fail
  }
}
