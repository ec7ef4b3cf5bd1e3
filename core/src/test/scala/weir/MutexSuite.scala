package weir

import java.util.concurrent.atomic.AtomicInteger

class MutexSuite extends StreamTests:

  test("one is inside at a time"):
    val mutex = Mutex().runSync()
    var count = 0 // guarded by the mutex
    val one = Task(count + 1).flatMap(next => Task.cede.andThen(Task { count = next }))
    Task.parForeachN(8)(1 to 10_000)(_ => mutex.withLock(one)).runSync()
    assertEquals(count, 10_000)

  test("waiting fibers get the lock in the order in which they came, a cancelled one does not"):
    given WeirRuntime = smallRuntime()
    val mutex = Mutex.unsafe()
    val log = Log()
    val leave = Deferred.unsafe[Unit]
    val inside = parked(mutex.withLock(leave.get))
    val fibers = (1 to 10).map(i => parked(mutex.withLock(Task.cede.andThen(log(s"$i")))))
    for i <- List(1, 5, 10) do fibers(i - 1).cancel.runSync()
    leave.complete(()).runSync(): Unit
    inside.joinOrFail.runSync()
    for fiber <- fibers do fiber.join.runSync(): Unit
    assertEquals(log.lines, List("2", "3", "4", "6", "7", "8", "9"))
    assert(!mutex.isLocked.runSync())

  test("it is left however the task ends"):
    given WeirRuntime = smallRuntime()
    val mutex = Mutex.unsafe()
    val boom = Boom()
    assertEquals(mutex.withLock(Task.fail(boom)).attempt.runSync(), Left(boom))
    assert(!mutex.isLocked.runSync())
    val fiber = parked(mutex.withLock(Task.never))
    assert(mutex.isLocked.runSync())
    fiber.cancel.runSync()
    assert(!mutex.isLocked.runSync())
    assertEquals(mutex.withLock(Task.canceled).start.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(mutex.withLock(Task.pure(1)).runSync(), 1)

  test("a dump knows who is inside, from the moment the mutex is handed over"):
    given WeirRuntime = smallRuntime()
    val mutex = Mutex.unsafe()
    assertEquals(mutex.holders.toList, Nil)
    val leave = List.fill(2)(Deferred.unsafe[Unit])
    val fibers = leave.map(d => parked(mutex.withLock(d.get)))
    assertEquals(mutex.holders.toList, List[Any](fibers(0)))
    assertEquals(mutex.awaitedAs, "Mutex, for which 1 waits")
    leave(0).complete(()).runSync(): Unit
    fibers(0).joinOrFail.runSync()
    assertEquals(mutex.holders.toList, List[Any](fibers(1)))
    leave(1).complete(()).runSync(): Unit
    fibers(1).joinOrFail.runSync()
    assertEquals(mutex.holders.toList, Nil)

  test("a fiber that asks for it twice waits for itself, and can be cancelled"):
    given WeirRuntime = smallRuntime()
    val mutex = Mutex.unsafe()
    val entered = AtomicInteger()
    val fiber = parked(mutex.withLock(mutex.withLock(Task(entered.incrementAndGet()))))
    assertEquals(mutex.holders.toList, List[Any](fiber))
    fiber.cancel.runSync()
    assertEquals(entered.get, 0)
    assert(!mutex.isLocked.runSync())
