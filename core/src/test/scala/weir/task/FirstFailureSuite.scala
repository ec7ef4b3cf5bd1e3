package weir
package task

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger

/** The first failure cancels the siblings and is the one thrown, for everything that runs tasks
  * side by side.
  */
class FirstFailureSuite extends WeirSuite:

  /** Two or three tasks side by side. */
  private val operators = List[(String, List[Task[Unit]] => Task[Any])](
    "parSequence" -> (tasks => Task.parSequence(tasks)),
    "parSequence of three at a time" -> (tasks => Task.parSequenceN(3)(tasks)),
    "parTraverseUnordered" -> (tasks => Task.parTraverseUnordered(tasks)(identity)),
    "parForeach" -> (tasks => Task.parForeachN(3)(tasks)(identity)),
    "both" -> (tasks => tasks.tail.foldLeft[Task[Any]](tasks.head)(Task.both)),
    "race" -> (tasks => tasks.tail.foldLeft[Task[Any]](tasks.head)(Task.race)),
    "Scope.run" -> (tasks => Scope.run(scope => Task.foreach(tasks)(scope.fork))),
    "Scope.run, in its body" ->
      (tasks => Scope.run(scope => Task.foreach(tasks.tail)(scope.fork).andThen(tasks.head))),
    "Resource.both" ->
      (tasks => tasks.map(Resource.eval).reduceLeft[Resource[Any]](Resource.both).use(Task.pure)),
    "Resource.parSequence" ->
      (tasks => Resource.parSequence(tasks.map(Resource.eval)).use(Task.pure)),
    "parEvalMap" -> (tasks => Stream.emits(tasks).parEvalMap(3)(identity).drain),
    "parJoin" -> (tasks => Stream.emits(tasks.map(Stream.eval)).parJoin(3).drain)
  )

  for (name, together) <- operators do
    test(
      s"$name: an error that an interrupted sibling throws does not replace the first, or hide it"
    ):
      for at <- 0 to 2 do
        val boom = Boom()
        val begun = CountDownLatch(2)
        val sibling = Task {
          begun.countDown()
          try Thread.sleep(3_600_000)
          catch case e: InterruptedException => throw IllegalStateException("interrupted", e)
        }
        val fails = Task(begun.await()).andThen(Task.fail(boom))
        val task = together(List.fill(2)(sibling).patch(at, List(fails), 0))
        assertEquals(task.attempt.runSync(), Left(boom))
        assertEquals(boom.getSuppressed.toList, Nil)

    test(s"$name: the siblings' finalizers have run once when the error is thrown"):
      for at <- 0 to 2 do
        val boom = Boom()
        val begun = CountDownLatch(2)
        val released = AtomicInteger()
        val sibling = Task(begun.countDown())
          .andThen(Task.never)
          .guarantee(Task.cede.andThen(Task(released.incrementAndGet()).void))
        val fails = Task(begun.await()).andThen(Task.fail(boom))
        val task = together(List.fill(2)(sibling).patch(at, List(fails), 0))
        assertEquals(task.attempt.map((_, released.get)).runSync(), (Left(boom), 2))

  for (name, together) <- operators if !name.startsWith("par") || name.contains("Seq") do
    test(s"$name: an error of masked code that ends later is suppressed under the first"):
      val first = Boom("first")
      val second = Boom("second")
      val begun = CountDownLatch(1)
      val masked =
        Task.uncancelable(_ => Task(begun.countDown()).andThen(canceled).andThen(Task.fail(second)))
      val fails = Task(begun.await()).andThen(Task.fail(first))
      assertEquals(together(List(masked, fails)).attempt.runSync(), Left(first))
      assertEquals(first.getSuppressed.toList, List(second))

  /** Ends once the cancel of the fiber that runs it has been requested. */
  private val canceled: Task[Unit] = new weir.fiber.Suspend[Unit]:
    def begin(fiber: weir.fiber.TaskFiber): Any =
      eventually("the sibling's fiber has been asked to end")(fiber.cancelRequested)

  test(
    "a million elements, eight at a time: at most eight are begun, and they cost the heap of eight"
  ):
    def grown(): Long =
      val gauge = Gauge()
      val ended = AtomicInteger()
      var early, late = 0L
      val items = scala.collection.View.fromIteratorProvider(() => Iterator.range(0, 1_000_000))
      Task
        .parForeachN(8)(items) { i =>
          Task(gauge.enter())
            .andThen(if i % 100 == 0 then Task.cede else Task.unit)
            .andThen(Task {
              if i == 10_000 then early = Heap.used()
              if i == 990_000 then late = Heap.used()
              gauge.leave()
              ended.incrementAndGet()
            })
        }
        .runSync()
      assertEquals(ended.get, 1_000_000)
      assert(gauge.peak <= 8, s"${gauge.peak} were begun at once")
      late - early
    // The JVM, or a fiber that another test has left, may grow something of its own meanwhile,
    // once.
    val most = 4_000_000
    val runs = Iterator.fill(3)(grown()).takeWhile(_ >= most).toList
    assert(runs.size < 3, s"$runs bytes more")
