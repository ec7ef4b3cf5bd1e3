package weir.cli

import java.nio.file.{Files, Path}

import weir.program.OutputFacts

class OutputSuite extends OutputFacts:
  protected val leastCommands = 5

  protected def cheap(folder: Path): Seq[Seq[String]] =
    val script = Files.writeString(folder.resolve("script.sql"), "SELECT 1;\n").toString
    Seq(Seq("sql", "--dry-run", script), Seq("--version"))

  test("an error that cannot be printed keeps its code"):
    assertEquals(silent("fedes"), 2)
    assertEquals(silent("sql", "--bogus"), 1)
