package weir.std

import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import scala.concurrent.duration.*
import weir.{Deferred, Outcome, StressTests, Task, Tier, WeirRuntime}

class KeyedMutexSuite extends StressTests:
  private val operations = Integer.getInteger("weir.stress.operations", 100_000).intValue

  override def limit: FiniteDuration = 30.seconds + (operations / 20_000).seconds

  /** A task that holds the lock until the deferred is set. */
  private def holding[K](mutex: KeyedMutex[K], key: K, until: Deferred[Unit])(using WeirRuntime) =
    parked(mutex.withLock(key)(until.get))

  test("tasks of one key run one after the other, in the order in which they came"):
    given WeirRuntime = smallRuntime()
    val mutex = KeyedMutex[String]().runSync()
    val leave = Deferred.unsafe[Unit]
    val log = Log()
    val first = holding(mutex, "a", leave)
    val waiting = (1 to 10).map(i => parked(mutex.withLock("a")(log(s"$i").as(i))))
    assertEquals(log.lines, Nil)
    assert(mutex.isLocked("a").runSync())
    leave.complete(()).runSync(): Unit
    assertEquals(waiting.map(_.joinOrFail.runSync()), 1 to 10)
    first.joinOrFail.runSync()
    assertEquals(log.lines, (1 to 10).map(_.toString).toList)
    assertEquals((mutex.isLocked("a").runSync(), mutex.size.runSync()), (false, 0))

  test("tasks of different keys run at once"):
    val mutex = KeyedMutex.unsafe[Int]()
    val crowd = Crowd(100)
    Task.parTraverse(1 to 100)(i => mutex.withLock(i)(crowd.meet(false))).runSync(): Unit
    assertEquals(crowd.peak, 100)
    assertEquals(mutex.size.runSync(), 0)

  test("keys that are equal are one key"):
    given WeirRuntime = smallRuntime()
    val mutex = KeyedMutex.unsafe[List[Int]]()
    val leave = Deferred.unsafe[Unit]
    val first = holding(mutex, List(1, 2), leave)
    val second = parked(mutex.withLock(List(1, 2))(Task.unit))
    assertEquals(second.asInstanceOf[weir.fiber.FiberCore].outcome, null)
    leave.complete(()).runSync(): Unit
    second.joinOrFail.runSync()
    first.joinOrFail.runSync()

  for (name, ending) <- List[(String, Task[Nothing])](
      "fails" -> Task.fail(new RuntimeException("expected")),
      "throws" -> Task(throw new RuntimeException("expected")),
      "cancels itself" -> Task.canceled.andThen(Task.never)
    )
  do
    test(s"a task that $name passes the lock on"):
      given WeirRuntime = smallRuntime()
      val mutex = KeyedMutex.unsafe[Int]()
      val go = Deferred.unsafe[Unit]
      val first = parked(mutex.withLock(1)(go.get.andThen(ending)))
      val second = parked(mutex.withLock(1)(Task.pure(2)))
      go.complete(()).runSync(): Unit
      assertEquals(second.joinOrFail.runSync(), 2)
      first.join.runSync(): Unit
      assertEquals(mutex.size.runSync(), 0)

  test("a task cancelled with the lock passes it on once its finalizers have run"):
    given WeirRuntime = smallRuntime()
    val mutex = KeyedMutex.unsafe[Int]()
    val finish = Deferred.unsafe[Unit]
    val log = Log()
    val body = Task.never.guarantee(finish.get.andThen(log("finalized")))
    val first = parked(mutex.withLock(1)(body))
    val second = parked(mutex.withLock(1)(log("second")))
    val cancel = canceling(first)
    standstill()
    assertEquals(log.lines, Nil)
    finish.complete(()).runSync(): Unit
    cancel.joinOrFail.runSync()
    second.joinOrFail.runSync()
    assertEquals(log.lines, List("finalized", "second"))

  test("cancelled while waiting, a task does not run, and those behind it keep their order"):
    given WeirRuntime = smallRuntime()
    val mutex = KeyedMutex.unsafe[Int]()
    val leave = Deferred.unsafe[Unit]
    val log = Log()
    val first = holding(mutex, 1, leave)
    val waiting = (1 to 5).map(i => parked(mutex.withLock(1)(log(s"$i"))))
    for i <- List(0, 2, 4) do
      waiting(i).cancel.runSync()
      assertEquals(waiting(i).join.runSync(), Outcome.Canceled)
    leave.complete(()).runSync(): Unit
    for i <- List(1, 3) do waiting(i).joinOrFail.runSync()
    first.joinOrFail.runSync()
    assertEquals(log.lines, List("2", "4"))
    assertEquals(mutex.size.runSync(), 0)

  test("when all waiting tasks are cancelled, the key is free after the task that holds it"):
    given WeirRuntime = smallRuntime()
    val mutex = KeyedMutex.unsafe[Int]()
    val leave = Deferred.unsafe[Unit]
    val first = holding(mutex, 1, leave)
    val second = parked(mutex.withLock(1)(Task.unit))
    second.cancel.runSync()
    leave.complete(()).runSync(): Unit
    first.joinOrFail.runSync()
    assertEquals(mutex.size.runSync(), 0)
    assertEquals(mutex.withLock(1)(Task.pure(1)).runSync(), 1)

  test("cancelled before it begins, it does not lock the key"):
    val mutex = KeyedMutex.unsafe[Int]()
    val ran = AtomicInteger()
    val task = mutex.withLock(1)(Task(ran.incrementAndGet()))
    val fiber = Task.uncancelable(poll => Task.canceled.andThen(poll(task))).start
    assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals((ran.get, mutex.size.runSync()), (0, 0))

  test("fibers that come and go at one key never miss each other"):
    given WeirRuntime = smallRuntime()
    val mutex = KeyedMutex.unsafe[Int]()
    val inside, entered = AtomicInteger()
    val one = mutex.withLock(1)(Task {
      assertEquals(inside.incrementAndGet(), 1)
      entered.incrementAndGet(): Unit
      inside.decrementAndGet(): Unit
    })
    val each = Tier(50_000, 200_000)
    // Two, since of more fibers one always waits, and the key is never free.
    together(List.fill(2)(() => for _ <- 1 to each do one.runSync()))
    assertEquals((entered.get, mutex.size.runSync()), (2 * each, 0))

  test("a fiber that waits names the key, and the fiber that holds it"):
    given WeirRuntime = smallRuntime()
    val mutex = KeyedMutex.unsafe[String]()
    val leave = Deferred.unsafe[Unit]
    val first = holding(mutex, "order 7", leave)
    val second = parked(mutex.withLock("order 7")(Task.unit))
    val awaited = weir.fiber.Waits.of(second)
    assertEquals(awaited.awaitedAs, "KeyedMutex, for the key order 7")
    assertEquals(awaited.holders.toList, List[Any](first))
    leave.complete(()).runSync(): Unit
    second.joinOrFail.runSync()

  test("keys that are not in use any more cost no memory (-Dweir.stress.operations)"):
    val mutex = KeyedMutex.unsafe[Long]()
    val key = AtomicLong()
    val one = Task.defer(mutex.withLock(key.incrementAndGet())(Task.unit))
    val grown = growth(Task.foreach(1 to operations)(_ => one).runSync())
    assert(grown < megabyte, s"grew by $grown bytes")
    assertEquals(mutex.size.runSync(), 0)
