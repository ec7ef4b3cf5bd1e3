package weir

import java.util.concurrent.{CountDownLatch, Executors, RejectedExecutionException}
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.*

class EvalOnSuite extends WeirSuite:

  private val pool = Executors.newSingleThreadExecutor(
    Thread.ofPlatform().daemon().name("one").factory()
  )
  private val one = ExecutionContext.fromExecutor(pool)
  private val name = Task(Thread.currentThread.getName)

  test("the steps run on the context's thread, also after a wait and a cede, and not afterwards"):
    val inside = for
      first <- name
      _ <- Task.sleep(1.milli)
      second <- name
      _ <- Task.cede
      third <- name
    yield List(first, second, third)
    assertEquals(inside.evalOn(one).runSync(), List("one", "one", "one"))
    assertNotEquals((inside.evalOn(one) >> name).runSync(), "one")

  test("fibers and concurrent children that it starts begin there"):
    assertEquals(name.start.flatMap(_.joinOrFail).evalOn(one).runSync(), "one")
    assertEquals(
      Task.parTraverse(List(1, 2, 3))(_ => name).evalOn(one).runSync(),
      List.fill(3)("one")
    )

  test("after an error and after a cancel the fiber is back"):
    val boom = Boom()
    val failed = Task.fail(boom).evalOn(one).attempt >> name
    assertNotEquals(failed.runSync(), "one")
    @volatile var finalized = ""
    val canceled = Task.canceled.evalOn(one).onCancel(name.map(finalized = _))
    canceled.start.flatMap(_.join).runSync(): Unit
    assertNotEquals(finalized, "one")
    assert(finalized ne "")

  test("two fibers that cede on one thread take turns"):
    @volatile var turn = 0
    def waitFor(n: Int): Task[Unit] =
      Task(turn == n).flatMap(now => if now then Task.unit else Task.cede >> waitFor(n))
    val both = Task.both(
      Task { turn = 1 } >> waitFor(2),
      waitFor(1) >> Task { turn = 2 }
    )
    both.evalOn(one).runSync(): Unit

  test("executionContext is that of the evalOn around it, else the runtime's"):
    assertEquals(Task.executionContext.evalOn(one).runSync(), one)
    assertEquals(Task.executionContext.runSync(), WeirRuntime.default.executionContext)
    val back = name.evalOn(WeirRuntime.default.executionContext).evalOn(one)
    assertNotEquals(back.runSync(), "one")

  private val onOne = name.evalOn(one)

  for (name, names) <- List[(String, Task[Seq[String]])](
      "evalMap" -> Stream(1, 2).evalMap(_ => onOne).toList,
      "evalMap in a fused run" ->
        Stream(1).evalMap(_ => onOne).toList.replicate(60).map(_.flatten),
      "eval" -> Stream.eval(onOne).toList,
      "unfoldEval" -> Stream
        .unfoldEval(0)(n => onOne.map(s => Option.when(n < 2)((s, n + 1))))
        .toList,
      "repeatEval" -> Stream.repeatEval(onOne).take(2).toList,
      "resource" -> Stream.resource(Resource.make(onOne)(_ => Task.unit)).toList,
      "the release of resource" -> Task.defer {
        val ends = java.util.concurrent.ConcurrentLinkedQueue[String]()
        Stream
          .resource(Resource.make(Task.unit)(_ => onOne.map(ends.add(_): Unit)))
          .drain
          .map(_ => ends.toArray(Array.empty[String]).toSeq)
      },
      "onFinalize" -> Task.defer {
        val ends = java.util.concurrent.ConcurrentLinkedQueue[String]()
        Stream(1)
          .onFinalize(onOne.map(ends.add(_): Unit))
          .drain
          .map(_ => ends.toArray(Array.empty[String]).toSeq)
      },
      "handleErrorWith" ->
        Stream.fail(Boom()).handleErrorWith(_ => Stream.eval(onOne)).toList,
      "switchMap" -> Stream(1).switchMap(_ => Stream.eval(onOne)).toList,
      "parEvalMap" -> Stream(1, 2, 3).parEvalMap(2)(_ => onOne).toList,
      "prefetchN" -> Stream.eval(onOne).prefetchN(1).toList,
      "Task.direct" -> Task.direct(Seq(onOne.await)),
      "a lambda in Task.direct" -> Task.direct(List(1, 2).map(_ => onOne.await)),
      "a for over a stream in Task.direct" -> Task.direct {
        val seen = List.newBuilder[String]
        for _ <- Stream(1, 2) do seen += onOne.await
        seen.result()
      }
    )
  do
    test(s"the steps run on the context's thread in $name, and not afterwards"):
      val (seen, after) =
        Task.both(names, Task.unit).map(_._1).flatMap(seen => this.name.map((seen, _))).runSync()
      assert(seen.nonEmpty)
      assertEquals(seen.distinct, Seq("one"))
      assertNotEquals(after, "one")

  /** Code that awaits `task`, as the stages of a stream do. */
  private def awaited[A](task: Task[A]): Task[A] = Task.direct(task.await)

  test("a wait there leaves the context's thread to others"):
    val latch = Deferred.unsafe[Unit]
    val waits = awaited(latch.get.evalOn(one))
    assertEquals(
      Task.both(waits, awaited((name.flatTap(_ => latch.complete(()))).evalOn(one))).runSync()._2,
      "one"
    )

  test("a cancel ends what plain code awaits there, and waits for its finalizers"):
    val begun = CountDownLatch(1)
    @volatile var ends = List.empty[String]
    def note(end: String) = name.map(name => ends = s"$end on $name" :: ends)
    val blocks = Task { begun.countDown(); Thread.sleep(3_600_000) }
    val fiber = awaited(blocks.onCancel(note("inner")).evalOn(one).onCancel(note("outer"))).start
      .runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals(ends.reverse.head, "inner on one")
    assertEquals(ends.size, 2)
    assertNotEquals(ends.head, "outer on one")
    assertEquals(onOne.runSync(), "one")

  test("a cancel there waits for the end of a mask, as in place; a poll removes the mask"):
    for polls <- List(true, false) do
      val begun = Deferred.unsafe[Unit]
      val gate = Deferred.unsafe[Unit]
      @volatile var passed = 0
      val wait = begun.complete(()) >> gate.get >> Task { passed += 1 }
      val masked = awaited(Task.uncancelable { poll =>
        awaited((if polls then poll(wait) else wait).evalOn(one)) >> Task { passed += 1 }
      } >> Task { passed += 1 })
      val fiber = masked.start.runSync()
      begun.get.runSync()
      val canceling = startCancel(fiber)
      if !polls then gate.complete(()).runSync(): Unit
      canceling.joinOrFail.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
      assertEquals(passed, if polls then 0 else 2)

  test("a poll there removes each of two masks"):
    val begun = Deferred.unsafe[Unit]
    val wait = begun.complete(()) >> Task.never
    val fiber = Task
      .uncancelable(outer => Task.uncancelable(inner => awaited(inner(outer(wait)).evalOn(one))))
      .start
      .runSync()
    begun.get.runSync()
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("a task that cancels itself there cancels the fiber that awaits it"):
    val ways = List[Task[Fiber[Unit]] => Task[Unit]](_ => Task.canceled, _.flatMap(_.cancel))
    for way <- ways do
      val self = Deferred.unsafe[Fiber[Unit]]
      val fiber = (awaited(way(self.get).evalOn(one)) >> Task(fail("went on"))).start.runSync()
      self.complete(fiber).runSync(): Unit
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("it cancels the fiber that awaits it also at once, before that fiber waits"):
    for _ <- 1 to Tier(5000, 100_000) do
      val self = Deferred.unsafe[Fiber[Unit]]
      val fiber = Task
        .direct {
          val me = self.get.await
          me.cancel.evalOn(one).await
        }
        .start
        .runSync()
      self.complete(fiber).runSync(): Unit
      assertEquals(fiber.join.timeout(30.seconds).runSync(), Outcome.Canceled)

  test("a cancel that is pending at the end of a mask there is pending here"):
    val pending = awaited(Task.uncancelable(_ => Task.canceled.as(1)).evalOn(one))
    assertEquals(pending.start.flatMap(_.join).runSync(), Outcome.Succeeded(1))
    val then_ = pending.flatMap(_ => Task(fail("went on")))
    assertEquals(then_.start.flatMap(_.join).runSync(), Outcome.Canceled)

  test("an error there is the error of the await, and can be caught"):
    val boom = Boom()
    val caught = Task.direct {
      try Task.fail(boom).evalOn(one).await
      catch case error: Boom => error
    }
    assertEquals(caught.runSync(), boom)

  test("locals go there and come back"):
    val local = TaskLocal.unsafe(0)
    val inside = local.update(_ + 1) >> local.get
    val all = local.set(1) >> awaited(inside.evalOn(one)).flatMap(a => local.get.map((a, _)))
    assertEquals(all.runSync(), (2, 2))

  test("a context that runs in place, and one that refuses, leave the steps to the workers"):
    val refusing = new ExecutionContext:
      def execute(code: Runnable): Unit = throw RejectedExecutionException("closed")
      def reportFailure(error: Throwable): Unit = ()
    for context <- List(ExecutionContext.parasitic, refusing) do
      assertEquals((Task.sleep(1.milli) >> Task.pure(1)).evalOn(context).runSync(), 1)

  test("a cancel interrupts code that blocks there"):
    val begun = java.util.concurrent.CountDownLatch(1)
    val fiber = Task { begun.countDown(); Thread.sleep(60_000) }.evalOn(one).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(name.evalOn(one).runSync(), "one")

  test("code there finds its own runtime, and may run tasks"):
    val code = Task((summon[WeirRuntime], Task.pure(2).runSync()))
    assertEquals(code.evalOn(one).runSync(), (WeirRuntime.default, 2))

  test("a runtime's context runs code that may block, on fibers"):
    val result = Future { Thread.sleep(1); 3 }(using WeirRuntime.default.executionContext)
    assertEquals(Await.result(result, 5.seconds), 3)
