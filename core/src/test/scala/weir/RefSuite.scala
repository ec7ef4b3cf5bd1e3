package weir

import java.util.concurrent.atomic.AtomicInteger

class RefSuite extends StreamTests:

  test("each operation returns what it says"):
    val ref = Ref.of(1).runSync()
    assertEquals(ref.get.runSync(), 1)
    ref.set(2).runSync()
    assertEquals(ref.getAndSet(3).runSync(), 2)
    ref.update(_ + 1).runSync()
    assertEquals(ref.updateAndGet(_ * 2).runSync(), 8)
    assertEquals(ref.modify(n => (n + 1, s"was $n")).runSync(), "was 8")
    assertEquals(ref.get.runSync(), 9)

  test("making an operation does nothing; each run does it anew"):
    val ref = Ref.unsafe(0)
    val add = ref.update(_ + 1)
    val add2 = ref.modify(n => (n + 1, n))
    assertEquals(ref.get.runSync(), 0)
    Task.sequence(List(add, add, add2, add2)).runSync(): Unit
    assertEquals(ref.get.runSync(), 4)

  test("Ref.of makes a new one each time it runs"):
    val make = Ref.of(0)
    val first = make.runSync()
    first.set(1).runSync()
    assertEquals(make.runSync().get.runSync(), 0)

  test("changes by many fibers are all there"):
    val ref = Ref.unsafe(0L)
    val each = Task.foreach(1 to 5000) { i =>
      i % 4 match
        case 0 => ref.update(_ + 1)
        case 1 => ref.updateAndGet(_ + 1)
        case 2 => ref.modify(n => (n + 1, n))
        case _ => Task.cede.andThen(ref.update(_ + 1))
    }
    Task.parTraverse(1 to 8)(_ => each).runSync(): Unit
    assertEquals(ref.get.runSync(), 40_000L)

  test("modify gives each value out once"):
    val ref = Ref.unsafe(0)
    val next = ref.modify(n => (n + 1, n))
    val values = Task.parTraverse(1 to 20_000)(_ => next).runSync()
    assertEquals(values.sorted, Vector.range(0, 20_000))

  test("getAndSet hands a value to one fiber"):
    val ref = Ref.unsafe(Option(1))
    val taken = Task.parTraverse(1 to 100)(_ => Task.cede.andThen(ref.getAndSet(None))).runSync()
    assertEquals(taken.flatten, Vector(1))

  test("a function that throws fails the task, and changes nothing"):
    val boom = Boom()
    val ref = Ref.unsafe(1)
    for task <- List[Task[Any]](
        ref.update(_ => throw boom),
        ref.updateAndGet(_ => throw boom),
        ref.modify(_ => throw boom)
      )
    do assertEquals(task.attempt.runSync(), Left(boom))
    assertEquals(ref.get.runSync(), 1)

  test("cancelled before it begins, a change does not happen; after, it has happened"):
    val ref = Ref.unsafe(0)
    val calls = AtomicInteger()
    val change = ref.update { n =>
      calls.incrementAndGet(): Unit
      n + 1
    }
    val before = Task.uncancelable(poll => Task.canceled.andThen(poll(change))).start
    assertEquals(before.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals((ref.get.runSync(), calls.get), (0, 0))
    val after = change.start.runSync()
    after.join.runSync(): Unit
    after.cancel.runSync()
    assertEquals(ref.get.runSync(), 1)

  test("getAndUpdate, tryUpdate, tryModify and flatModify give what their names say"):
    val ref = Ref.unsafe(1)
    assertEquals(ref.getAndUpdate(_ + 1).runSync(), 1)
    assertEquals(ref.tryUpdate(_ + 1).runSync(), true)
    assertEquals(ref.tryModify(n => (n + 1, s"was $n")).runSync(), Some("was 3"))
    assertEquals(ref.flatModify(n => (n + 1, Task(n * 10))).runSync(), 40)
    assertEquals(ref.get.runSync(), 5)

  test("a try does nothing where another fiber has changed the value meanwhile"):
    val ref = Ref.unsafe(1)
    def meanwhile(n: Int): Int =
      ref.update(_ * 1000).runSync()
      n + 1
    assertEquals(ref.tryUpdate(meanwhile).runSync(), false)
    assertEquals(ref.tryModify(n => (meanwhile(n), "x")).runSync(), None)
    assertEquals(ref.get.runSync(), 1_000_000)

  test("a cancel does not come between the change of flatModify and its task"):
    val ref = Ref.unsafe(0)
    val cancelsItself = ref.flatModify(n => (n + 1, ref.update(_ + 10)))
    val fiber = Task.uncancelable(_ => Task.canceled >> cancelsItself).start.runSync()
    fiber.join.runSync(): Unit
    assertEquals(ref.get.runSync(), 11)
