package weir

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*

class SemaphoreSuite extends StreamTests:

  for permits <- List(1, 2, 100) do
    test(s"at most $permits are inside at once, and as many as that"):
      val semaphore = Semaphore(permits).runSync()
      val crowd = Crowd(permits)
      val gauge = Gauge()
      val inside = Task(gauge.enter()).andThen(Task.cede).andThen(Task(gauge.leave()))
      Task.parForeachN(1000)(1 to permits)(_ => semaphore.withPermit(crowd.meet(false))).runSync()
      Task.parForeachN(1000)(1 to 10_000)(_ => semaphore.withPermit(inside)).runSync()
      assert(gauge.peak <= permits, s"${gauge.peak} were inside")
      assertEquals(semaphore.available.runSync(), permits.toLong)

    test(s"tryAcquire takes what there is, $permits, and no more"):
      val semaphore = Semaphore.unsafe(permits)
      val taken = Task.traverse(1 to permits + 3)(_ => semaphore.tryAcquire).runSync()
      assertEquals(taken, Vector.fill(permits)(true) ++ Vector.fill(3)(false))
      assertEquals(semaphore.available.runSync(), 0L)
      semaphore.releaseN(permits).runSync()
      assert(!semaphore.tryAcquireN(permits + 1).runSync())
      assert(semaphore.tryAcquireN(permits).runSync())

  test("withPermit gives the value, or the error, and the permit back"):
    val semaphore = Semaphore.unsafe(1)
    val boom = Boom()
    // ready and not, each of which goes another way
    for first <- List(Task.unit, Task.cede, Task(())) do
      assertEquals(semaphore.withPermit(first.as(1)).runSync(), 1)
      val failed = semaphore.withPermit(first.andThen(Task.fail(boom)))
      assertEquals(failed.attempt.runSync(), Left(boom))
      val thrown = semaphore.withPermit(first.map(_ => throw boom))
      assertEquals(thrown.attempt.runSync(), Left(boom))
      assertEquals(semaphore.available.runSync(), 1L)
    assertEquals(semaphore.withPermit(Task(throw boom)).attempt.runSync(), Left(boom))
    assertEquals(semaphore.withPermit(Task.pure(2)).runSync(), 2)
    assertEquals(semaphore.available.runSync(), 1L)

  test("fibers that wait are served in the order in which they came, also by a release of many"):
    given WeirRuntime = smallRuntime()
    val semaphore = Semaphore.unsafe(0)
    val log = Log()
    val fibers = (1 to 20).map(i => parked(semaphore.acquire.andThen(log(s"$i"))))
    for _ <- 1 to 10 do
      semaphore.release.runSync()
      standstill()
    assertEquals(log.lines, (1 to 10).map(_.toString).toList)
    semaphore.releaseN(10).runSync()
    for fiber <- fibers do fiber.joinOrFail.runSync()
    assertEquals(semaphore.available.runSync(), 0L)

  test("one that wants many is not passed by one that wants few"):
    given WeirRuntime = smallRuntime()
    val semaphore = Semaphore.unsafe(2)
    val many = parked(semaphore.acquireN(3))
    val few = parked(semaphore.acquire)
    assert(!semaphore.tryAcquire.runSync())
    assertEquals((semaphore.available.runSync(), semaphore.count.runSync()), (0L, -2L))
    semaphore.release.runSync()
    many.joinOrFail.runSync()
    semaphore.release.runSync()
    few.joinOrFail.runSync()
    assertEquals(semaphore.count.runSync(), 0L)

  test("a wait for many that is cancelled lets those behind it go on"):
    given WeirRuntime = smallRuntime()
    val semaphore = Semaphore.unsafe(2)
    val many = parked(semaphore.acquireN(3))
    val few = List.fill(2)(parked(semaphore.acquire))
    many.cancel.runSync()
    for fiber <- few do fiber.joinOrFail.runSync()
    assertEquals(semaphore.count.runSync(), 0L)

  for waits <- List(false, true) do
    test(s"acquire cancelled ${if waits then "while waiting" else "before it begins"} takes none"):
      given WeirRuntime = smallRuntime()
      val semaphore = Semaphore.unsafe(1)
      if waits then semaphore.acquire.runSync()
      for task <- List(semaphore.acquire, semaphore.withPermit(Task.unit)) do
        if waits then
          val fibers = (1 to 5).map(_ => parked(task))
          for i <- List(0, 2, 4) do fibers(i).cancel.runSync()
          semaphore.release.runSync()
          fibers(1).joinOrFail.runSync()
          if task eq semaphore.acquire then semaphore.release.runSync()
          fibers(3).joinOrFail.runSync()
          assertEquals(fibers(4).join.runSync(), Outcome.Canceled)
          if !(task eq semaphore.acquire) then semaphore.acquire.runSync()
        else
          val fiber = Task.uncancelable(poll => Task.canceled.andThen(poll(task))).start
          assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)
          assertEquals(semaphore.available.runSync(), 1L)

  for body <- List("waits" -> Task.never, "blocks" -> Task(Thread.sleep(3_600_000))) do
    test(s"withPermit cancelled while its task ${body._1} gives the permit back"):
      val semaphore = Semaphore.unsafe(1)
      for _ <- 1 to 20 do
        val begun = Deferred.unsafe[Unit]
        val released = AtomicInteger()
        val task =
          begun.complete(()).andThen(body._2).guarantee(Task(released.incrementAndGet()).void)
        val fiber = semaphore.withPermit(task).start.runSync()
        begun.get.runSync()
        fiber.cancel.runSync()
        assertEquals((released.get, semaphore.available.runSync()), (1, 1L))

  test("a permit that is given to a fiber in the moment it is cancelled comes back"):
    given WeirRuntime = smallRuntime()
    val random = scala.util.Random(3)
    val semaphore = Semaphore.unsafe(1)
    for _ <- 1 to 2000 do
      semaphore.acquire.runSync()
      val fiber = semaphore.withPermit(Task.unit).start.runSync()
      val cancel = fiber.cancel.start.runSync()
      val until = System.nanoTime() + random.nextInt(5_000)
      while System.nanoTime() < until do Thread.onSpinWait()
      semaphore.release.runSync()
      cancel.joinOrFail.runSync()
      assertEquals(semaphore.available.runSync(), 1L)

  test("a masked withPermit goes on through a cancel, until there is a permit"):
    given WeirRuntime = smallRuntime()
    val semaphore = Semaphore.unsafe(0)
    val ran = AtomicInteger()
    val fiber =
      parked(Task.uncancelable(_ => semaphore.withPermit(Task(ran.incrementAndGet()))))
    val cancel = parked(fiber.cancel)
    semaphore.release.runSync()
    cancel.joinOrFail.runSync()
    assertEquals((ran.get, semaphore.available.runSync()), (1, 1L))

  test("a withPermit that times out takes none"):
    val semaphore = Semaphore.unsafe(0)
    intercept[java.util.concurrent.TimeoutException](
      semaphore.withPermit(Task.unit).timeout(1.milli).runSync()
    )
    assertEquals(semaphore.count.runSync(), 0L)

  test("zero permits are taken at once, also while a fiber waits"):
    given WeirRuntime = smallRuntime()
    val semaphore = Semaphore.unsafe(0)
    val fiber = parked(semaphore.acquire)
    semaphore.acquireN(0).runSync()
    assert(semaphore.tryAcquireN(0).runSync())
    assertEquals(semaphore.withPermits(0)(Task.pure(1)).runSync(), 1)
    fiber.cancel.runSync()

  test(
    "withPermit works where the thread waits: in runSync, on a thread that is no fiber"
  ):
    val semaphore = Semaphore.unsafe(1)
    semaphore.acquire.runSync()
    val thread = Thread.ofPlatform().start(() => semaphore.release.runSync())
    assertEquals(semaphore.withPermit(Task(1)).runSync(), 1)
    thread.join()

  test("a negative number is refused with its value and the rule"):
    val semaphore = Semaphore.unsafe(1)
    for call <- List(
        () => semaphore.acquireN(-1),
        () => semaphore.tryAcquireN(-1),
        () => semaphore.releaseN(-1),
        () => semaphore.withPermits(-1)(Task.unit),
        () => Semaphore(-1)
      )
    do
      val error = intercept[IllegalArgumentException](Task.defer(call()).runSync())
      assert(error.getMessage.contains("was -1. It must not be negative."), error.getMessage)

  test("a dump says what is waited for"):
    given WeirRuntime = smallRuntime()
    val semaphore = Semaphore.unsafe(1)
    semaphore.acquire.runSync()
    val fiber = parked(semaphore.acquire)
    assertEquals(semaphore.awaitedAs, "Semaphore(1), for which 1 waits")
    fiber.cancel.runSync()
