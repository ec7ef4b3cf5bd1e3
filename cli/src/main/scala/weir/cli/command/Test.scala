package weir.cli.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, ExitCode}

/** Describes `weir test` for `weir --help`. The launcher `./weir` runs the command itself. */
@Command(
  name = "test",
  customSynopsis = Array(
    "weir test [MODULE...] [--long] [-DKEY=VALUE...]",
    "weir test mutants MODULE [NAME...]",
    "weir test coverage [MODULE...]"
  ),
  description = Array(
    "Run every check and all tests, or those of some modules.",
    "",
    "The steps are the format, the compilation, the code and the links in the docs, a " +
      "project that uses the artifacts, and the tests. The last line is `N passed, N failed`. " +
      "The exit code is 0 if every step passed, and 1 otherwise.",
    "",
    "--long runs the long tier: stress tests at full size, kills at full count, and tests of " +
      "more than 10 s.",
    "",
    "mutants makes small mistakes in copies of MODULE's sources, one at a time: all mistakes " +
      "of its table, or those named. It fails unless the suites of each mistake notice it.",
    "",
    "coverage runs the tests of the published modules, or of some, under JaCoCo's agent, and " +
      "writes which lines they ran as pages in target/coverage.",
    "",
    "-DKEY=VALUE sets a system property for the tests, for example -Dweir.stress.seconds=60.",
    ""
  )
)
final class Test extends Callable[Int]:
  def call(): Int =
    System.err.println("weir test: start it with the launcher ./weir in a checkout of Weir")
    ExitCode.USAGE
