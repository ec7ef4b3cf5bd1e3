package weir.bench.child.highload

import weir.lab.compare.{ShortTasks, WorkTimes}

/** Every way of every system consumes each task once. */
class HighLoadSuite extends munit.FunSuite:
  for
    ((system, name), way) <- HighLoad.ways.toList.sortBy(_._1)
    consumers <- List(1, 3)
  do
    test(s"$system, $name: $consumers consumers"):
      val tasks = ShortTasks(3000, WorkTimes(1000, 2000, 1, 20_000), consumers, seed = 7)
      val run = tasks.Run()
      way(tasks, run)
      assertEquals(run.mistake, None)

  test("a way that is not there is refused by name"):
    interceptMessage[IllegalArgumentException]("high-load has no way 'pile' on 'weir'"):
      HighLoad.way("weir", "pile")
