package weir.lab.compare

class LineSuite extends munit.FunSuite:

  private val tasks = Plan.batchCount * Plan.batchSize

  for
    columns <- Seq(80, 100, 200)
    runs <- Seq(1, 2)
  do
    test(s"the letters of all tasks and the time fit, $runs in $columns columns"):
      val line = Line(columns, runs)
      val letters = "PC" * (tasks / line.tasksPerLetter)
      val cell = line.cell(Board.State.Ended(letters, 29_876))
      val text = line.of(Way.ParallelStream.name, Seq.fill(runs)(cell))
      assert(text.length <= columns, clue(text))
      assert(text.contains(s"$letters "), clue(text))
      assert(text.endsWith(" 29.88 s"), clue(text))

  test("a run that goes on has letters only"):
    assertEquals(
      Line(80, 2).of("batch", Seq(Line(80, 2).cell(Board.State.Going("PC")))),
      "batch            PC"
    )

  test("a run without a time says why"):
    val line = Line(80, 1)
    assert(line.cell(Board.State.Hung("", "hangs: after 1 s")).endsWith(" hangs"))
    assert(line.cell(Board.State.Failed("", "no memory")).endsWith(" failed"))
