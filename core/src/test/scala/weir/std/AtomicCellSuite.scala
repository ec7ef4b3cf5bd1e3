package weir.std

import weir.{Deferred, Task, WeirSuite}

/** `AtomicCell`: changes by tasks, one after the other. */
class AtomicCellSuite extends WeirSuite:

  test("changes are made one after the other, none is lost"):
    val cell = AtomicCell.unsafe(0)
    Task.parTraverse(1 to 1000)(_ => cell.evalUpdate(n => Task.cede.as(n + 1))).runSync(): Unit
    assertEquals(cell.get.runSync(), 1000)

  test("each of its changes gives what its name says"):
    val cell = AtomicCell.unsafe(1)
    def plus(n: Int)(a: Int) = Task.pure(a + n)
    assertEquals(cell.evalUpdateAndGet(plus(1)).runSync(), 2)
    assertEquals(cell.evalGetAndUpdate(plus(1)).runSync(), 2)
    assertEquals(cell.evalModify(a => Task.pure((a * 10, s"was $a"))).runSync(), "was 3")
    assertEquals(cell.get.runSync(), 30)
    cell.set(5).runSync()
    assertEquals(cell.get.runSync(), 5)

  test("a failure and a cancel leave the value as it was, and let the next in"):
    val cell = AtomicCell.unsafe(1)
    intercept[Boom](cell.evalUpdate(_ => Task.fail(Boom())).runSync()): Unit
    val started = Deferred.unsafe[Unit]
    val fiber = cell.evalUpdate(_ => started.complete(()) >> Task.never).start.runSync()
    started.get.runSync()
    assertEquals(cell.get.runSync(), 1) // it does not wait for a change
    fiber.cancel.runSync()
    assertEquals(cell.evalUpdateAndGet(a => Task.pure(a + 1)).runSync(), 2)
