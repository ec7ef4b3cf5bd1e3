package weir.testkit.explore

class RandomPrioritiesSuite extends munit.FunSuite:

  /** Returns the choice between `enabled`, after a step of the strand 0, where each is tried. */
  private def chosen(seed: Int, enabled: Int*): Int =
    val point = Point()
    point.step = 5
    point.previous = 0
    point.branches = true
    point.disturbing = 2
    point.enabled ++= enabled
    val strategy = RandomPriorities(seed, depth = 3)
    strategy.begin(10)
    strategy.choose(point)

  test("while nothing can run but a disturbance and the clock, one of these two is chosen"):
    val all = (1 to 100).map(chosen(_, 2, 3)).toSet
    assertEquals(all, Set(2, 3))

  test("an instruction that may fail does not fail most of the time"):
    val all = (1 to 100).map(chosen(_, 0, 2))
    assert(all.count(_ == 2) < 30, all)
    assertEquals(all.toSet, Set(0, 2))
