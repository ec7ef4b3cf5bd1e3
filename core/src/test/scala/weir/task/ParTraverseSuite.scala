package weir
package task

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger

class ParTraverseSuite extends ParallelTests:

  def run(parallelism: Int, items: Iterable[Int])(f: Int => Task[Int]): Task[Any] =
    Task.parTraverseN(parallelism)(items)(f)

  test("values come in the order of the items, whichever child ends first"):
    val gates = Vector.fill(21)(CountDownLatch(1))
    gates.last.countDown()
    def child(i: Int) = Task(gates(i + 1).await()).as(i).flatTap(_ => Task(gates(i).countDown()))
    val expected = 0 until 20
    assertEquals(Task.parTraverse(0 until 20)(child).runSync(), expected)
    assertEquals(Task.parTraverseN(20)(0 until 20)(child).runSync(), expected)
    assertEquals(Task.parSequence((0 until 20).map(child)).runSync(), expected)
    assertEquals(Task.parSequenceN(20)((0 until 20).map(child)).runSync(), expected)

  test("without a number all are begun at once, waiting or blocking"):
    for blocking <- List(true, false) do
      val begun = CountDownLatch(5000)
      val all = scala.concurrent.Promise[Unit]()
      def child(i: Int) = Task {
        begun.countDown()
        if begun.getCount == 0 then all.trySuccess(()): Unit
      }.andThen(if blocking then Task(begun.await()) else Task.fromFuture(all.future)).as(i)
      assertEquals(Task.parTraverse(1 to 5000)(child).runSync(), 1 to 5000)

  test("hundreds of thousands of ready children keep their order"):
    val many = Tier(300_000, 1_000_000)
    assertEquals(Task.parTraverse(1 to many)(Task.pure).runSync(), 1 to many)
    val delayed = Task.parTraverseN(4)(1 to many)(i => Task.delay(i * 2))
    assertEquals(delayed.map(_.sum).runSync(), (1 to many).map(_ * 2).sum)

  test("the same task runs on many fibers at once"):
    val runs = AtomicInteger()
    val task =
      Task.parTraverseN(4)(1 to 20)(i => Task.cede.andThen(Task(runs.incrementAndGet())).as(i))
    val all = Task.parTraverse(1 to 50)(_ => task).runSync()
    assertEquals(all.distinct, Vector(1 to 20))
    assertEquals(runs.get, 1000)

  test("values keep their order, whatever mix of ready, sleeping and ceding children runs"):
    val seed = ParTraverseSuite.seed
    val random = scala.util.Random(seed)
    for round <- 1 to Tier(500, 2000) do
      val kinds = Vector.fill(random.nextInt(200))(random.nextInt(40))
      val children = kinds.zipWithIndex.map { (kind, i) =>
        kind match
          case 0 => Task.sleep(scala.concurrent.duration.DurationInt(20).micros).as(i)
          case 1 => Task(Thread.`yield`()).as(i)
          case 2 | 3 => Task.cede.as(i)
          case 4 => Task.pure(i)
          case _ => Task.delay(i)
      }
      val (ordered, unordered) = (Task.parSequence(children), Task.parSequenceUnordered(children))
      val expected = kinds.indices.toVector
      val clue = s"round $round, -Dweir.test.seed=$seed"
      assertEquals(ordered.runSync(), expected, clue)
      assertEquals(unordered.runSync().sorted, expected.toList, clue)
      assertEquals(Task.sequence(children).runSync(), expected, clue)
      if round % 20 == 0 then // on the carriers, not on this thread
        assertEquals(
          Task.cede.andThen(ordered).start.flatMap(_.joinOrFail).runSync(),
          expected,
          clue
        )

  test("a child that is null counts as one whose result is null, and changes no other list"):
    val items = (0 until 5000).map(i => List(i, -i)).toList
    def copy = items.map(_.map(identity))
    val before = copy
    for every <- List(1, 2, 7, 64, 1000) do
      def result(item: List[Int]): String = if item.head % every == 0 then null else s"$item"
      def child(item: List[Int]): Task[String] =
        if result(item) eq null then null else Task.delay(result(item))
      val expected = items.map(result)
      assertEquals(Task.parTraverse(items)(child).runSync(), expected)
      val unordered = Task.parTraverseUnordered(items)(child).runSync()
      assertEquals(unordered.groupBy(identity), expected.groupBy(identity))
      assertEquals(Task.parForeachN(4)(items)(child).runSync(), ())
      assertEquals(copy, before)

object ParTraverseSuite:
  val seed: Long = Tier.seed("weir.test.seed")

class ParTraverseUnorderedSuite extends ParallelTests:

  def run(parallelism: Int, items: Iterable[Int])(f: Int => Task[Int]): Task[Any] =
    Task.parTraverseUnorderedN(parallelism)(items)(f)

  test("values come in the order in which the children end"):
    // Each child waits for the end of the next one, so that no child can be counted too early.
    val ended = Vector.fill(11)(scala.concurrent.Promise[Unit]())
    ended.last.success(())
    def child(i: Int) = Task
      .fromFuture(ended(i + 1).future)
      .andThen(Task.sleep(scala.concurrent.duration.DurationInt(5).millis))
      .map { _ =>
        ended(i).trySuccess(()): Unit
        i
      }
    val values = Task.parTraverseUnordered(0 until 10)(child).runSync()
    assertEquals(values, (0 until 10).reverse.toList)

  test("all values are there, from parSequenceUnordered too"):
    val expected = (1 to 10_000).toSet
    val children = (1 to 10_000).map(i => if i % 3 == 0 then Task.cede.as(i) else Task.pure(i))
    val values = Task.parSequenceUnordered(children).runSync()
    assertEquals((values.size, values.toSet), (10_000, expected))

class ParSequenceSuite extends ParallelTests:

  def run(parallelism: Int, items: Iterable[Int])(f: Int => Task[Int]): Task[Any] =
    Task.parSequenceN(parallelism)(items.view.map(i => Task.defer(f(i))))
