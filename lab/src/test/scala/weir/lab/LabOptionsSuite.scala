package weir.lab

import munit.FunSuite
import picocli.CommandLine
import picocli.CommandLine.{Command, Mixin}

import weir.program.{BadInput, TempFolder}

class LabOptionsSuite extends FunSuite with TempFolder:
  @Command(name = "x")
  private class WithOptions:
    @Mixin var lab: LabOptions = LabOptions()

  private val known = Seq("zio", "bound", "weir", "ox")

  private def options(args: String*): LabOptions =
    val command = WithOptions()
    CommandLine(command).parseArgs(args*): Unit
    command.lab

  private def problem(run: => Any): String = intercept[BadInput](run).getMessage

  test("without --only all systems are measured, in the usual order"):
    assertEquals(options().systems(known), Vector("weir", "zio", "ox"))

  test("--only chooses, whatever its order and blanks"):
    assertEquals(options("--only", "ox, weir").systems(known), Vector("weir", "ox"))

  test("--only with a system that is not known names it and those that are"):
    assertEquals(
      problem(options("--only", "weir,akka").systems(known)),
      "--only: there is no system 'akka' here. There are: weir, zio, ox."
    )
    assertEquals(
      problem(options("--only", ",").systems(known)),
      "--only: it names no system. There are: weir, zio, ox."
    )

  folder.test("files that cannot be written and a seed that is none are found before any work"):
    folder =>
      for (args, start) <- List(
          Seq("--json", s"$folder") -> s"--json $folder: this is a folder",
          Seq(
            "--report",
            s"$folder/no/x.html"
          ) -> s"--report $folder/no/x.html: there is no folder",
          Seq("--seed", "x") -> "--seed: 'x' is not a whole number"
        )
      do assert(problem(options(args*).checked()).startsWith(start), args)

  test("what is given comes back"):
    val checked = options("--quick", "--seed", "7").checked()
    assertEquals((checked.isQuick, checked.seed, checked.json), (true, 7L, None))
