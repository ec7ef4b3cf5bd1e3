package weir.testkit

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import java.util.concurrent.locks.ReentrantLock
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, LinkedBlockingQueue}
import scala.concurrent.duration.*
import weir.{Channel, Deferred, Queue, Ref, Semaphore, Stream, Task}

class ExploreSuite extends munit.FunSuite:

  private def failure(limits: ExploreLimits = ExploreLimits())(task: => Task[Any]): ExploreFailure =
    intercept[ExploreFailure](TestRuntime.explore(limits)(task))

  private def passes(task: => Task[Any]): ExploreReport =
    val report = TestRuntime.explore()(task)
    assert(report.isExhaustive, report.toString)
    report

  // ---- faults that it finds ----

  test("a lost update of a Ref is found with one pre-emption"):
    val error = failure() {
      for
        count <- Ref.of(0)
        add = count.get.flatMap(n => count.set(n + 1))
        _ <- Task.both(add, add)
        n <- count.get
      yield assertEquals(n, 2)
    }
    assertEquals(error.preemptions, 1)
    assert(error.getCause.isInstanceOf[munit.ComparisonFailException], error.toString)

  test("updates of a Ref are right in every order"):
    val report = passes {
      for
        count <- Ref.of(0)
        _ <- Task.both(count.update(_ + 1), count.update(_ + 1))
        n <- count.get
      yield assertEquals(n, 2)
    }
    assert(report.orders > 1, report.toString)

  private val increments = List[(String, () => (() => Unit, () => Int))](
    "a plain variable" -> (() => { var n = 0; (() => n += 1, () => n) }),
    "an atomic that is read and then set" -> (() => {
      val n = AtomicInteger(); (() => n.set(n.get + 1), () => n.get)
    }),
    "a lock that is given back in between" -> (() => {
      val lock = ReentrantLock()
      var n = 0
      def locked[A](a: => A) = {
        lock.lock();
        try a
        finally lock.unlock()
      }
      (() => { val m = locked(n); locked { n = m + 1 } }, () => n)
    }),
    "two monitors for one variable" -> (() => {
      val a = Object()
      var n = 0
      (() => { val m = a.synchronized(n); a.synchronized { n = m + 1 } }, () => n)
    }),
    "a map that is read and then changed" -> (() => {
      val map = ConcurrentHashMap[String, Int]()
      (
        () => map.put("n", map.getOrDefault("n", 0) + 1): Unit,
        () => map.get("n")
      )
    })
  )

  for (name, make) <- increments do
    test(s"a lost update is found: $name"):
      val error = failure()(Task.defer {
        val (add, get) = make()
        Task.both(Task(add()), Task(add())).map(_ => assertEquals(get(), 2))
      })
      assertEquals(error.preemptions, 1)

  private val right = List[(String, () => (() => Unit, () => Int))](
    "an atomic" -> (() => {
      val n = AtomicInteger(); (() => n.incrementAndGet(): Unit, () => n.get)
    }),
    "a lock" -> (() => {
      val lock = ReentrantLock()
      var n = 0
      (
        () => {
          lock.lock();
          try n += 1
          finally lock.unlock()
        },
        () => n
      )
    }),
    "a monitor" -> (() => { val a = Object(); var n = 0; (() => a.synchronized(n += 1), () => n) }),
    "a synchronized method" -> (() => {
      val c = ExploreSuite.Counter(); (() => c.add(), () => c.n)
    }),
    "a map's own operation" -> (() => {
      val map = ConcurrentHashMap[String, Int]()
      (() => map.merge("n", 1, _ + _): Unit, () => map.get("n"))
    })
  )

  for (name, make) <- right do
    test(s"no update is lost in any order: $name"):
      passes(Task.defer {
        val (add, get) = make()
        Task.both(Task(add()), Task(add())).map(_ => assertEquals(get(), 2))
      }): Unit

  test("a deadlock of two locks is found, and told"):
    val error = failure()(Task.defer {
      val (a, b) = (ReentrantLock(), ReentrantLock())
      def both(x: ReentrantLock, y: ReentrantLock) = Task:
        x.lock()
        y.lock()
        y.unlock()
        x.unlock()
      Task.both(both(a, b), both(b, a))
    })
    assert(error.getCause.isInstanceOf[TestRuntime.Stuck], error.toString)

  test("a deadlock of two monitors is found, and who has which is told"):
    val error = failure()(Task.defer {
      val (a, b) = (Object(), Object())
      def both(x: Object, y: Object) = Task(x.synchronized(y.synchronized(())))
      Task.both(both(a, b), both(b, a))
    })
    assert(error.getCause.getMessage.contains("held by fiber"), error.toString)

  test("a fiber that is left behind in one order only is found"):
    val error = failure() {
      for
        isDone <- Ref.of(false)
        other <- isDone.set(true).start
        done <- isDone.get
        _ <- if done then Task.never.start else Task.unit
        _ <- other.join
      yield ()
    }
    assert(error.getCause.isInstanceOf[TestRuntime.Leaked], error.toString)

  test("a wake-up that is lost is found: check, then wait"):
    val error = failure() {
      for
        isSet <- Ref.of(false)
        waiter <- Ref.of(Option.empty[Deferred[Unit]])
        awaits = isSet.get.flatMap(set =>
          Task.unless(set)(
            Deferred[Unit].flatMap(d => waiter.set(Some(d)).andThen(d.get))
          )
        )
        sets = isSet
          .set(true)
          .andThen(
            waiter.get.flatMap {
              case Some(d) => d.complete(()).void
              case None => Task.unit
            }
          )
        _ <- Task.both(awaits, sets)
      yield ()
    }
    assert(error.getCause.isInstanceOf[TestRuntime.Stuck], error.toString)

  test("the order of two alarms that are due at the same time is a choice"):
    val error = failure() {
      for
        log <- Ref.of(List.empty[Int])
        _ <- Task.parTraverse(1 to 2)(n => Task.sleep(1.second).andThen(log.update(n :: _)))
        seen <- log.get
      yield assertEquals(seen, List(2, 1))
    }
    assertEquals(error.preemptions, 0)

  test("an alarm that is removed when it is due might have rung before"):
    val error = failure() {
      for
        rung <- Ref.of(false)
        other <- Task.sleep(2.seconds).andThen(rung.set(true)).start
        _ <- Task.sleep(1.second).andThen(Task.sleep(1.second)).andThen(other.cancel)
        seen <- rung.get
      yield assert(!seen)
    }
    assertEquals(error.preemptions, 0)

  test("alarms that are due one after the other ring in that order"):
    val report = passes {
      for
        log <- Ref.of(List.empty[Int])
        _ <- Task.parTraverse(1 to 3)(n => Task.sleep(n.seconds).andThen(log.update(n :: _)))
        seen <- log.get
      yield assertEquals(seen, List(3, 2, 1))
    }
    assert(report.took < 5.seconds, report.toString)

  // ---- programs of all kinds pass ----

  private val programs = List[(String, () => Task[Any])](
    "a queue" -> (() =>
      for
        queue <- Queue.bounded[Int](1)
        takes = Task.traverse(1 to 3)(_ => queue.take)
        (_, seen) <- Task.both(Task.foreach(1 to 3)(queue.offer), takes)
      yield assertEquals(seen.toList, List(1, 2, 3))
    ),
    "a semaphore" -> (() =>
      for
        permits <- Semaphore(1)
        inside <- Ref.of(0)
        one = permits.withPermit(
          inside.updateAndGet(_ + 1).map(assertEquals(_, 1)).andThen(inside.update(_ - 1))
        )
        _ <- Task.both(one, one)
      yield ()
    ),
    "a channel" -> (() =>
      for
        channel <- Channel.bounded[Int](1)
        sends = channel.send(1).andThen(channel.send(2)).andThen(channel.close)
        (_, seen) <- Task.both(sends, channel.stream.toList)
      yield assertEquals(seen, List(1, 2))
    ),
    "a race with a cancel" -> (() =>
      for
        released <- Ref.of(0)
        wait = Task.never.guarantee(released.update(_ + 1))
        _ <- Task.race(wait, Task.cede)
        n <- released.get
      yield assert(n <= 1)
    ),
    "a timeout" -> (() => Task.never.timeout(1.second).attempt.map(r => assert(r.isLeft))),
    "code that blocks" -> (() =>
      Task.defer {
        val queue = LinkedBlockingQueue[Int](1)
        Task
          .both(Task { queue.put(1); queue.put(2) }, Task(List(queue.take(), queue.take())))
          .map((_, seen) => assertEquals(seen, List(1, 2)))
      }
    ),
    "a latch" -> (() =>
      Task.defer {
        val latch = CountDownLatch(1)
        Task.both(Task(latch.await()), Task(latch.countDown()))
      }
    ),
    "a loop that yields until another fiber has set a flag" -> (() =>
      Task.defer {
        val isSet = AtomicBoolean()
        Task.both(Task(while !isSet.get do Thread.`yield`()), Task(isSet.set(true)))
      }
    ),
    "wait and notify" -> (() =>
      Task.defer {
        val monitor = Object()
        var isSet = false
        Task.both(
          Task(monitor.synchronized(while !isSet do monitor.wait())),
          Task(monitor.synchronized {
            isSet = true
            monitor.notifyAll()
          })
        )
      }
    ),
    "two that wait in a monitor, and one that notifies them" -> (() =>
      Task.defer {
        val box = ExploreSuite.Box()
        val puts = Task {
          box.put(1)
          box.put(2)
        }
        Task
          .both(Task.both(Task(box.take()), Task(box.take())), puts)
          .map { case ((a, b), _) => assertEquals(Set(a, b), Set(1, 2)) }
      }
    ),
    "virtual threads of its own" -> (() =>
      Task {
        val n = AtomicInteger()
        val thread = Thread.startVirtualThread(() => n.incrementAndGet(): Unit)
        n.incrementAndGet(): Unit
        thread.join()
        assertEquals(n.get, 2)
      }
    ),
    "sleeps of blocking code" -> (() =>
      Task.both(Task(Thread.sleep(1_000_000)), Task(Thread.sleep(2_000_000)))
    ),
    "direct style" -> (() =>
      Task.defer {
        val n = AtomicReference(0)
        val add = Task.direct { n.updateAndGet(_ + 1): Unit; Task.cede.await }
        Task.both(add, add).map(_ => assertEquals(n.get.intValue, 2))
      }
    )
  )

  for (name, program) <- programs do
    test(s"a right program passes, and all orders are run: $name"):
      passes(program()): Unit

  test("a program of many steps goes on by random priorities, within the limit of time"):
    val report = TestRuntime.explore(ExploreLimits(time = 400.millis))(
      Stream.emits(1 to 30).parEvalMapUnordered(3)(n => Task.cede.as(n)).prefetchN(1).drain
    )
    assert(report.randomOrders > 0, report.toString)
    assert(report.toString.contains("probability"), report.toString)

  test("a stream takes the same steps however often it has been opened"):
    val limits = ExploreLimits(preemptions = 1, time = 20.seconds, inside = List("weir.stream."))
    val report = TestRuntime.explore(limits)(
      for
        used <- Ref.of(0)
        stream = Stream(1, 2, 3).evalTap(n => used.update(_ + n)).prefetchStrict
        _ <- Task.both(stream.drain, Task.both(used.update(_ + 4), used.update(_ + 5)))
        all <- used.get
      yield assertEquals(all, 15)
    )
    // A class is made for a stream when it is opened for the 50th time.
    assert(report.orders > 60, report.toString)

object ExploreSuite:
  final class Counter:
    var n = 0
    def add(): Unit = synchronized { n += 1 }

  /** Holds one number. */
  final class Box:
    private val items = java.util.ArrayDeque[Int]()

    def put(n: Int): Unit = items.synchronized {
      while !items.isEmpty do items.wait()
      items.add(n): Unit
      items.notifyAll()
    }

    def take(): Int = items.synchronized {
      while items.isEmpty do items.wait()
      items.notifyAll()
      items.remove()
    }
