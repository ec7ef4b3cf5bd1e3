import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._
import scala.util.Try

import sbt._
import sbt.Keys._
import sbt.testing.{Status, TestSelector}

/** The command `verify`, which `./weir test` runs: every check as a step, then the totals.
  *
  * A failed step does not keep the later ones from running, since whoever has to mend one wants to
  * know about all. The tests that failed stand at the end once more, since a log may be cut at its
  * front. The last line is `N passed, N failed`, and is left out if it would not be true.
  */
object Verify {
  val settings: Seq[Setting[_]] = Seq(
    Global / commands ++= Seq(verify, step, stepFailed, totals),
    Global / testListeners += Counts
  )

  private val modules =
    Seq(
      "lab",
      "core",
      "testkit",
      "slf4j",
      "csv",
      "json",
      "zstd",
      "cats",
      "fs2Interop",
      "interopTests",
      "postgres",
      "kafka",
      "cli",
      "bench",
      "benchCe2"
    )
  private val failedSteps = List.newBuilder[String]
  private val unfinished = List.newBuilder[String]

  private object Counts extends TestReportListener {
    val passed, failed, skipped = new AtomicInteger
    val suites = ConcurrentHashMap.newKeySet[String]
    val failures = new ConcurrentLinkedQueue[String]

    override def testEvent(event: TestEvent): Unit = event.detail.foreach { test =>
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
  }

  /** The name of a test and what it said, without the stack: that stands where it failed. */
  private def described(test: sbt.testing.Event): String = {
    val name = test.selector match {
      case one: TestSelector => one.testName
      case _ => test.fullyQualifiedName
    }
    val said = if (test.throwable.isDefined) s"${test.throwable.get.getMessage}" else ""
    (s"failed: $name" +: said.linesIterator.map("  " + _).toSeq).mkString("\n")
  }

  private lazy val verify = Command.args("verify", "<module>...") { (state, chosen) =>
    val known = modules ++ Seq("docs", "examples")
    chosen.filterNot(known.contains) match {
      case Nil => steps(chosen).map("step " + _).toList ::: "totals" :: state
      case unknown =>
        System.err.println(
          s"weir test: there is no module ${unknown.mkString(", ")}. " +
            s"The modules are ${known.mkString(", ")}."
        )
        state.fail
    }
  }

  /** Set by `./weir test --long`. */
  private def isLong: Boolean = sys.props.get("weir.long").contains("true")

  private def steps(chosen: Seq[String]): Seq[String] =
    if (chosen.isEmpty)
      Seq(
        "scalafmtCheckAll",
        "scalafmtSbtCheck",
        "Test/compile",
        "versionPolicyCheck",
        "bench/Jmh/compile",
        "benchCe2/Jmh/compile",
        if (isLong) "docs/site" else "docs/siteLinks",
        if (isLong) "exampleProjects" else "exampleProjects java"
      ) ++
        modules.map(_ + "/test")
    else
      chosen.flatMap {
        case "docs" => Seq("docs/siteLinks")
        case "examples" => Seq("exampleProjects")
        case module => Seq("scalafmtCheckAll", "Test/compile", "test").map(s"$module/" + _)
      }

  // When a command fails, sbt runs `onFailure` and goes on after the next `resumeFromFailure`.
  private lazy val step = Command.single("step") { (state, command) =>
    println(s"\n==> sbt $command")
    val failed = Exec(s"stepFailed $command", None)
    command :: "resumeFromFailure" :: state.copy(onFailure = Some(failed))
  }

  private lazy val stepFailed = Command.single("stepFailed") { (state, command) =>
    failedSteps += command
    if (command.endsWith("/test"))
      unfinished ++= unfinishedSuites(state, command.stripSuffix("/test"))
    state
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
    if (Counts.skipped.get > 0) println(s"${Counts.skipped} skipped")
    val mayNotSkip = sys.env.get("CI").contains("true") && Counts.skipped.get > 0
    if (mayNotSkip)
      println("Where CI=true nothing may be skipped: install what the skipped tests need.")
    if (steps.nonEmpty) println(steps.mkString("failed steps: ", ", ", ""))
    if (lost.nonEmpty) println(lost.mkString("no totals, since these did not finish: ", ", ", ""))
    else println(s"${Counts.passed} passed, ${Counts.failed} failed")
    val end = state.copy(onFailure = None)
    if (steps.isEmpty && !mayNotSkip) end else end.fail
  }
}
