package weir.interop.cats

import _root_.cats.effect.IO
import _root_.cats.effect.kernel.Resource as CatsResource
import _root_.cats.effect.std.{Dispatcher, Queue as CatsQueue}
import _root_.cats.effect.unsafe.implicits.global
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CancellationException, ConcurrentLinkedQueue, CountDownLatch}
import scala.concurrent.duration.*
import scala.concurrent.{Await, Future}
import scala.jdk.CollectionConverters.*
import weir.{Deferred, Outcome, Queue, Ref, Resource, Semaphore, Task}

class ConversionsSuite extends munit.FunSuite:

  override def munitTimeout: Duration = 20.seconds
  private val boom = Exception("boom")

  test("values and errors go both ways"):
    assertEquals(IO.pure(1).toTask.runSync(), 1)
    assertEquals(Task.pure(1).toIO.unsafeRunSync(), 1)
    assertEquals(IO.raiseError(boom).toTask.attempt.runSync(), Left(boom))
    assertEquals(Task.fail(boom).toIO.attempt.unsafeRunSync(), Left(boom))
    assertEquals(IO.sleep(1.milli).as(2).toTask.toIO.toTask.runSync(), 2)

  test("a cancel goes both ways, and waits for the finalizers of the other side"):
    val begun = CountDownLatch(2)
    val events = ConcurrentLinkedQueue[String]()
    val inIO = (IO(begun.countDown()) *> IO.never[Unit])
      .onCancel(IO.sleep(5.millis) *> IO(events.add("IO")).void)
    val inTask = (Task(begun.countDown()) >> Task.never)
      .onCancel(Task.sleep(5.millis) >> Task(events.add("Task")).void)
    val task = inIO.toTask.start.runSync()
    val io = inTask.toIO.start.unsafeRunSync()
    begun.await()
    task.cancel.runSync()
    assertEquals(events.asScala.toList, List("IO"))
    io.cancel.unsafeRunSync()
    assertEquals(events.asScala.toList, List("IO", "Task"))

  test("what cancels itself cancels the other side; a CancellationException is an error"):
    assertEquals(IO.canceled.toTask.start.flatMap(_.join).runSync(), Outcome.Canceled)
    assert(Task.canceled.toIO.start.flatMap(_.join).unsafeRunSync().isCanceled)
    val error = CancellationException("of the user's")
    assertEquals(IO.raiseError(error).toTask.attempt.runSync(), Left(error))
    assertEquals(Task.fail(error).toIO.attempt.unsafeRunSync(), Left(error))

  test("a resource is released once, and told how its use has ended, both ways"):
    val ends = ConcurrentLinkedQueue[String]()
    val weirs = Resource.makeCase(Task.pure(1))((_, end) => Task(ends.add(s"$end")).void)
    val cats =
      CatsResource.makeCase[Task, Int](Task.pure(1))((_, end) => Task(ends.add(s"$end")).void)
    for resource <- List(weirs.toCats.toWeir, cats.toWeir, cats.toWeir.toCats.toWeir) do
      ends.clear()
      assertEquals(resource.use(n => Task.pure(n + 1)).runSync(), 2)
      assertEquals(resource.use(_ => Task.fail(boom)).attempt.runSync(), Left(boom))
      resource.use(_ => Task.canceled).start.flatMap(_.join).runSync(): Unit
      assertEquals(ends.size, 3)
      assert(ends.asScala.toList(1).contains("boom"), ends)
      assert(ends.asScala.toList(2).contains("Canceled"), ends)

  test("a ref, a deferred, a queue and a semaphore are the same on both sides"):
    val ref = Ref.unsafe(1)
    val program = for
      _ <- ref.toCats.update(_ + 1)
      changed <- ref.toCats.access.flatMap((n, set) => set(n + 1))
      late <- ref.toCats.access.flatMap((n, set) => ref.set(9) >> set(n))
      deferred <- Deferred[Int]
      fiber <- deferred.toCats.get.start
      _ <- deferred.complete(5)
      got <- fiber.joinOrFail
      queue <- Queue.bounded[Int](1)
      _ <- queue.toCats.offer(7)
      taken <- queue.take
      semaphore <- Semaphore(2)
      inside <- semaphore.toCats.permit.surround(semaphore.available)
      after <- semaphore.toCats.available
      now <- ref.get
    yield (changed, late, got, taken, inside, after, now)
    assertEquals(program.runSync(), (true, false, 5, 7, 1L, 2L, 9))

  test("things of IO are things of Task by mapK"):
    val program = CatsQueue
      .bounded[IO, Int](1)
      .toTask
      .map(_.mapK(ioToTask))
      .flatMap(queue => queue.offer(3) >> queue.take)
    assertEquals(program.runSync(), 3)

  test("a cancel in the middle of many conversions leaves nothing running"):
    val running = AtomicInteger()
    val side = IO.bracketFull(_ => IO(running.incrementAndGet()))(_ => IO.never[Unit])((_, _) =>
      IO(running.decrementAndGet()).void
    )
    val all = Task.parTraverse(1 to 100)(_ => side.toTask.toIO.toTask).start.runSync()
    while running.get < 100 do Thread.onSpinWait()
    all.cancel.runSync()
    assertEquals(running.get, 0)

class DispatcherSuite extends munit.FunSuite:

  override def munitTimeout: Duration = 20.seconds

  for (name, make) <- List(
      "parallel" -> Dispatcher.parallel[Task](using asyncForTask),
      "sequential" -> Dispatcher.sequential[Task](using asyncForTask)
    )
  do
    test(s"a $name dispatcher runs what other threads give it"):
      val total = make
        .use { dispatcher =>
          Task {
            val futures = (1 to 100).map { n =>
              Future(dispatcher.unsafeRunSync(Task.sleep(10.micros).as(n)))(using
                scala.concurrent.ExecutionContext.global
              )
            }
            futures.map(Await.result(_, 10.seconds)).sum
          }
        }
        .runSync()
      assertEquals(total, 5050)

    test(s"a $name dispatcher that is closed cancels what still runs, and refuses more"):
      val begun, finalized = CountDownLatch(1)
      val task = (Task(begun.countDown()) >> Task.never).onCancel(Task(finalized.countDown()))
      val dispatcher = make
        .use(dispatcher =>
          Task {
            dispatcher.unsafeRunAndForget(task)
            begun.await()
            dispatcher
          }
        )
        .runSync()
      finalized.await()
      intercept[IllegalStateException](dispatcher.unsafeRunAndForget(Task.unit)): Unit

  test("a task that a dispatcher runs is cancelled by its own cancel"):
    val finalized = CountDownLatch(1)
    Dispatcher
      .parallel[Task](using asyncForTask)
      .use { dispatcher =>
        Task {
          val begun = CountDownLatch(1)
          val (_, cancel) = dispatcher.unsafeToFutureCancelable(
            (Task(begun.countDown()) >> Task.never).onCancel(Task(finalized.countDown()))
          )
          begun.await()
          Await.result(cancel(), 10.seconds)
          finalized.await()
        }
      }
      .runSync()
