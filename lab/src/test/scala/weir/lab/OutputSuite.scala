package weir.lab

import java.nio.file.Path

import weir.program.{OutputFacts, Tier}

class OutputSuite extends OutputFacts:
  protected val leastCommands = 10

  /** Of the system that has one way, since each way starts a JVM. */
  private val fewTasks =
    Seq("compare", "--tasks", "1000", "--work", "1us..2us", "--only", "platform-threads")

  protected def cheap(folder: Path): Seq[Seq[String]] =
    Tier(Seq(fewTasks), Seq(fewTasks, Seq("bench", "-l", "GatherReady")))

  folder.test("a file of results that cannot be written is one line, and the others are written"):
    folder =>
      for option <- Tier(Seq("--json"), Seq("--json", "--chart")) do
        losesFile(folder, fewTasks, option)
