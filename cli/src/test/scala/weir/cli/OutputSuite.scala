package weir.cli

import java.nio.file.{Files, Path}

import weir.program.OutputFacts

class OutputSuite extends OutputFacts:
  protected val leastCommands = 15

  /** Of the system that has one way, since each way starts a JVM. */
  private val fewTasks =
    Seq("compare", "--tasks", "1000", "--work", "1us..2us", "--only", "platform-threads")

  protected def cheap(folder: Path): Seq[Seq[String]] =
    val script = Files.writeString(folder.resolve("script.sql"), "SELECT 1;\n").toString
    Seq(
      Seq("sql", "--dry-run", script),
      fewTasks,
      Seq("bench", "-l", "GatherReady"),
      Seq("--version")
    )

  test("an error that cannot be printed keeps its code"):
    assertEquals(silent("fedes"), 2)
    assertEquals(silent("sql", "--bogus"), 1)

  folder.test("a file of results that cannot be written is one line, and the others are written"):
    folder => for option <- Seq("--json", "--chart") do losesFile(folder, fewTasks, option)
