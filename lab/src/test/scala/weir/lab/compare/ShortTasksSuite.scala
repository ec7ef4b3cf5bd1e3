package weir.lab.compare

class ShortTasksSuite extends munit.FunSuite:
  private val tasks = ShortTasks(100, WorkTimes(1000, 2000, 0, 0), consumers = 2, seed = 1)

  test("a run in which each task was consumed once has no mistake, on whatever threads"):
    val run = tasks.Run()
    (0 until 100).map(i => Thread.startVirtualThread(() => run.consume(i))).foreach(_.join())
    assertEquals(run.mistake, None)

  test("a task that was left out, or consumed twice, is a mistake, and fails the measurement"):
    val run = tasks.Run()
    for i <- 0 until 99 do run.consume(i)
    assertEquals(run.mistake, Some("task 99 was consumed 0 times"))
    run.consume(99)
    Thread.startVirtualThread(() => run.consume(42)).join()
    assertEquals(run.mistake, Some("task 42 was consumed 2 times"))
    interceptMessage[IllegalStateException]("task 0 was consumed 0 times"):
      tasks.bestMillis(_ => ()): Unit

  test("the ideal time is the work divided by the number of consumers"):
    val ideal = ShortTasks(1000, WorkTimes(2000, 2000, 0, 0), consumers = 2, seed = 1).idealMillis
    assertEqualsDouble(ideal, 1, 1e-9)
    val long = ShortTasks(10_000, WorkTimes(1000, 1000, 10, 100_000), 1, seed = 1).idealMillis
    assertEqualsDouble(long, 109, 10)

  test("times of work are read and written in the same form"):
    for text <- Seq("1us..10us", "5us..5us", "1us..10us,1%:500us") do
      assertEquals(WorkTimes.parse(text).map(_.text), Some(text))
    assertEquals(WorkTimes.parse("5us"), Some(WorkTimes(5000, 5000, 0, 0)))
    for text <- Seq("", "5", "9us..1us", "0us", "1us..10us,100%:1us", "1us,1%") do
      assertEquals(WorkTimes.parse(text), None, text)
