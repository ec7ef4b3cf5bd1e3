package weir.std

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import weir.{Deferred, Task, WeirSuite}

/** `KeyedSemaphore`: a number of tasks at once for each key. */
class KeyedSemaphoreSuite extends WeirSuite:

  test("no more than its permits run for one key, and other keys do not wait"):
    val semaphore = KeyedSemaphore.unsafe[Int](2)
    val inside = ConcurrentHashMap[Int, AtomicInteger]()
    val most = AtomicInteger()
    def count(key: Int) = inside.computeIfAbsent(key, _ => AtomicInteger())
    Task
      .parTraverse(0 until 1000) { i =>
        val key = i % 5
        semaphore.withPermit(key) {
          Task {
            val now = count(key).incrementAndGet()
            most.accumulateAndGet(now, math.max(_, _)): Unit
          } >> Task.cede >> Task(count(key).decrementAndGet())
        }
      }
      .runSync(): Unit
    assert(most.get <= 2, most.get)
    assertEquals(semaphore.size.runSync(), 0)

  test("a key whose permits are held holds up its own tasks only"):
    val semaphore = KeyedSemaphore.unsafe[String](1)
    val held = Deferred.unsafe[Unit]
    val holder = semaphore.withPermit("a")(held.get).start.runSync()
    eventually("it is held")(semaphore.available("a").runSync() == 0)
    val waiter = semaphore.withPermit("a")(Task.pure(1)).start.runSync()
    assertEquals(semaphore.withPermit("b")(Task.pure(2)).runSync(), 2)
    assertEquals(semaphore.available("b").runSync(), 1L)
    held.complete(()).runSync(): Unit
    assertEquals(waiter.joinOrFail.runSync(), 1)
    holder.joinOrFail.runSync()
    assertEquals(semaphore.size.runSync(), 0)

  test("a failure, a cancel inside and a cancel of one who waits give all back"):
    val semaphore = KeyedSemaphore.unsafe[Int](2)
    intercept[Boom](semaphore.withPermit(1)(Task.fail(Boom())).runSync(): Unit): Unit
    val inside = semaphore.withPermits(1, 2)(Task.never).start.runSync()
    eventually("both are held")(semaphore.available(1).runSync() == 0)
    val waits = semaphore.withPermit(1)(Task.unit).start.runSync()
    eventually("it waits")(isWaiting(waits))
    waits.cancel.runSync()
    assertEquals(semaphore.size.runSync(), 1)
    inside.cancel.runSync()
    assertEquals((semaphore.size.runSync(), semaphore.available(1).runSync()), (0, 2L))

  test("more permits than a key has are refused, rather than waited for"):
    val semaphore = KeyedSemaphore.unsafe[Int](2)
    for n <- List(3, -1) do
      intercept[IllegalArgumentException](semaphore.withPermits(1, n)(Task.unit).runSync()): Unit
    assertEquals(semaphore.size.runSync(), 0)

  test("permits below one are refused"):
    val error = intercept[IllegalArgumentException](KeyedSemaphore[Int](0).runSync(): Unit)
    assert(error.getMessage.contains("permits was 0"), error.getMessage)
