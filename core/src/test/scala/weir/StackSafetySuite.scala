package weir

import scala.concurrent.duration.*

/** Each shape a million deep, on a thread whose stack holds some ten thousand calls. */
class StackSafetySuite extends WeirSuite:

  override def limit: FiniteDuration = 30.seconds

  private val deep = Tier(100_000, 1_000_000)
  private val zero: Task[Int] = Task.pure(0)

  /** `step` around `zero`, `times` deep: the first to run is the innermost. */
  private def left(step: Task[Int] => Task[Int], times: Int = deep): Int =
    (1 to times).foldLeft(zero)((task, _) => step(task)).runSync()

  /** `step` makes the rest of the chain when it runs. */
  private def right(step: (=> Task[Int]) => Task[Int]): Int =
    def go(left: Int): Task[Int] = if left == 0 then zero else step(go(left - 1))
    go(deep).runSync()

  test("map nests to the left"):
    assertEquals(left(_.map(_ + 1)), deep)

  test("flatMap nests to the left"):
    assertEquals(left(_.flatMap(n => Task.pure(n + 1))), deep)

  test("flatMap of delayed work nests to the left"):
    assertEquals(left(_.flatMap(n => Task.delay(n + 1))), deep)

  test("flatMap nests to the right"):
    assertEquals(right(rest => Task.unit.flatMap(_ => rest)), 0)

  test("flatMap nests to the right with a map outside of each"):
    assertEquals(right(rest => Task.unit.flatMap(_ => rest).map(_ + 1)), deep)

  test("defer nests to the right, also with a map outside of each"):
    assertEquals(right(rest => Task.defer(rest)), 0)
    assertEquals(right(rest => Task.defer(rest).map(_ + 1)), deep)

  test("attempt nests to the left and to the right"):
    def collapse(task: Task[Int]): Task[Int] = task.attempt.map(_.fold(_ => -1, _ + 1))
    assertEquals(left(collapse), deep)
    assertEquals(right(rest => collapse(Task.defer(rest))), deep)

  test("handleErrorWith nests to the left and to the right, on success and on failure"):
    val boom = Boom()
    assertEquals(left(_.handleErrorWith(_ => Task.pure(-1)).map(_ + 1)), deep)
    assertEquals(left(_.flatMap(n => Task.fail(boom).handleErrorWith(_ => Task.pure(n + 1)))), deep)
    assertEquals(right(rest => Task.fail(boom).handleErrorWith(_ => rest)), 0)
    val rethrown = (1 to deep).foldLeft[Task[Int]](Task.fail(boom))((task, _) =>
      task.handleErrorWith(e => Task.fail(e))
    )
    assertEquals(rethrown.attempt.runSync(), Left(boom))

  test("a failure passes a million maps and flatMaps"):
    val boom = Boom()
    val task = (1 to deep).foldLeft[Task[Int]](Task.fail(boom))((task, i) =>
      if i % 2 == 0 then task.map(_ + 1) else task.flatMap(Task.pure)
    )
    assertEquals(task.attempt.runSync(), Left(boom))

  test("mixed shapes nest to the left, suspending now and then"):
    val boom = Boom()
    val steps = Vector[Task[Int] => Task[Int]](
      _.map(_ + 1),
      _.flatMap(n => Task.delay(n + 1)),
      _.attempt.map(_.fold(throw _, _ + 1)),
      task => Task.defer(task).map(_ + 1),
      _.flatMap(n => Task.fail(boom).handleError(_ => n + 1)),
      task => Task.cede.flatMap(_ => task).map(_ + 1),
      task => Task.uncancelable(poll => poll(task)).map(_ + 1),
      task => Task.sequence(List(task)).map(_.head + 1),
      _.onCancel(Task.unit).map(_ + 1)
    )
    val random = scala.util.Random(3)
    assertEquals(left(task => steps(random.nextInt(steps.size))(task), 300_000), 300_000)

  test("sequence of sequence nests, and so does traverse"):
    assertEquals(left(task => Task.sequence(List(task)).map(_.head + 1)), deep)
    assertEquals(right(rest => Task.traverse(List(1))(_ => rest).map(_.head + 1)), deep)
    assertEquals(right(rest => Task.foreach(List(1))(_ => rest).as(0)), 0)

  test("uncancelable and poll nest to the left and to the right"):
    assertEquals(left(task => Task.uncancelable(_ => task).map(_ + 1)), deep)
    assertEquals(right(rest => Task.uncancelable(poll => poll(Task.defer(rest))).map(_ + 1)), deep)

  test("onCancel, guarantee and bracket nest 100,000 deep, and a cancel unwinds them"):
    val many = 100_000
    def bracketed(task: Task[Int]) = Task.bracket(Task.unit)(_ => task)(_ => Task.unit).map(_ + 1)
    assertEquals(left(_.onCancel(Task.unit).map(_ + 1), many), many)
    assertEquals(left(_.guarantee(Task.unit).map(_ + 1), many), many)
    assertEquals(left(bracketed, many), many)
    var released = 0
    val nested =
      (1 to many).foldLeft(Task.canceled)((task, _) => task.guarantee(Task.delay(released += 1)))
    assertEquals(nested.start.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(released, many)

  test("a failure passes 100,000 finalizers, and each runs"):
    var released = 0
    val nested = (1 to 100_000).foldLeft[Task[Unit]](Task.fail(Boom()))((task, _) =>
      task.guarantee(Task.delay(released += 1))
    )
    intercept[Boom](nested.runSync())
    assertEquals(released, 100_000)

  test("start nests 10,000 deep, and so do race, both, timeout and parTraverse"):
    val many = 10_000
    assertEquals(left(_.start.flatMap(_.joinOrFail).map(_ + 1), many), many)
    assertEquals(left(Task.race(_, Task.never).map(_.fold(_ + 1, identity)), many), many)
    assertEquals(left(Task.both(_, Task.unit).map(_._1 + 1), many), many)
    assertEquals(left(_.timeout(1.minute).map(_ + 1), many), many)
    assertEquals(
      left(
        task => Task.parTraverse(1 to 2)(i => if i == 1 then task else zero).map(_.head + 1),
        many
      ),
      many
    )
