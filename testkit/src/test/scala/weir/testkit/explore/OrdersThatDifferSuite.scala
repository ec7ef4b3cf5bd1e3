package weir.testkit.explore

import java.util.concurrent.Semaphore as JavaSemaphore
import java.util.concurrent.atomic.{AtomicInteger, AtomicIntegerFieldUpdater}
import java.util.concurrent.locks.{LockSupport, ReentrantLock, ReentrantReadWriteLock}
import java.util.ConcurrentModificationException
import scala.collection.mutable
import weir.*
import weir.testkit.{ExploreLimits, ExploreReport, SynchronizedMethods, TestRuntime}

/** Small programs with an end that only one kind of order shows: `explore` shows it. */
class OrdersThatDifferSuite extends munit.FunSuite:

  /** The values of a program in all orders, and the report. */
  private def valuesOf[A](
      limits: ExploreLimits = ExploreLimits()
  )(program: => Task[A]): (Set[A], ExploreReport) =
    val seen = mutable.Set[A]()
    val report = TestRuntime.explore(limits)(program.map(value => seen += value))
    (seen.toSet, report)

  private def shows[A](expected: A*)(program: => Task[A]): Unit =
    val (seen, report) = valuesOf()(program)
    assert(report.isExhaustive, s"$report")
    assertEquals(expected.toSet -- seen, Set.empty[A], s"not shown; shown were $seen, $report")

  // ---- fibers that cede ----

  test("a fiber that cedes many times in a row may end before another begins"):
    shows(0 to 12*) {
      for
        x <- Ref.of(0)
        writes = Task.foreach(1 to 12)(n => x.set(n).andThen(Task.cede))
        (_, seen) <- Task.both(writes, x.get)
      yield seen
    }

  test("a fiber that looks many times and gives up may do so before the other begins"):
    shows(true, false) {
      for
        x <- Ref.of(false)
        look = x.get.flatMap(is => Task.cede.as(is))
        looks = (1 to 12).foldLeft(Task.pure(false))((before, _) =>
          before.flatMap(found => if found then Task.pure(true) else look)
        )
        (found, _) <- Task.both(looks, x.set(true))
      yield found
    }

  // ---- the end of a fiber, and of a child ----

  test("the fiber that is the first to write is not always the first to end"):
    shows(("A", "A"), ("A", "B"), ("B", "A"), ("B", "B")) {
      for
        first <- Ref.of("")
        child = (name: String) => first.update(s => if s.isEmpty then name else s).as(name)
        won <- Task.race(child("A"), child("B"))
        wrote <- first.get
      yield (wrote, won.merge)
    }

  test("a fiber that has done all its steps has not always ended"):
    shows((0, false), (1, false), (1, true)) {
      for
        x <- Ref.of(0)
        fiber <- x.set(1).start
        seen <- x.get
        ended <- fiber.poll
        _ <- fiber.join
      yield (seen, ended.isDefined)
    }

  // ---- locks ----

  test("a lock is still held after the last write under it"):
    shows((0, false), (0, true), (1, false), (1, true)) {
      Task.defer {
        val lock = ReentrantLock()
        val x = AtomicInteger()
        val writes = Task {
          lock.lock()
          x.set(1)
          lock.unlock()
        }
        val looks = Task {
          val seen = x.get
          val got = lock.tryLock()
          if got then lock.unlock()
          (seen, got)
        }
        Task.both(writes, looks).map(_._2)
      }
    }

  test("a permit of the JDK's is not back yet after the last write before its release"):
    shows((1, false), (1, true)) {
      Task.defer {
        val permits = JavaSemaphore(0)
        val x = AtomicInteger()
        val writes = Task { x.set(1); permits.release() }
        val looks = Task((x.get, permits.tryAcquire()))
        Task.both(writes, looks).map(_._2)
      }
    }

  test("a read lock keeps the write lock from being taken"):
    shows(true, false) {
      Task.defer {
        val lock = ReentrantReadWriteLock()
        val x = AtomicInteger()
        val reads = Task {
          lock.readLock().lock()
          x.get: Unit
          lock.readLock().unlock()
        }
        val writes = Task {
          val got = lock.writeLock().tryLock()
          if got then lock.writeLock().unlock()
          got
        }
        Task.both(reads, writes).map(_._2)
      }
    }

  // ---- arrays, constructors, iterators, handles ----

  test("an update of an element of an array may be lost"):
    shows(1, 2) {
      Task.defer {
        val counts = new Array[Int](2)
        Task.both(Task(counts(1) += 1), Task(counts(1) += 1)).map(_ => counts(1))
      }
    }

  test("an update of an element of an array of objects, or of longs, may be lost"):
    shows((1L, "a"), (1L, "ab"), (2L, "a"), (2L, "ab")) {
      Task.defer {
        val counts = new Array[Long](1)
        val texts = Array("")
        val left = Task { counts(0) += 1; texts(0) = texts(0) + "a" }
        val right = Task { counts(0) += 1; if texts(0) == "a" then texts(0) = texts(0) + "b" }
        Task.both(left, right).map(_ => (counts(0), texts(0)))
      }
    }

  test("an object that is made from two variables may see one old and the other one new"):
    shows((0, 0), (0, 1), (1, 0), (1, 1)) {
      Task.defer {
        var a, b = 0
        final class Copy { val seenA = a; val seenB = b }
        val writes = Task { a = 1; b = 1 }
        Task.both(writes, Task(Copy())).map((_, copy) => (copy.seenA, copy.seenB))
      }
    }

  test("a list that is changed while it is iterated over"):
    shows("modified", "1", "2") {
      Task.defer {
        val list = java.util.ArrayList[Int]()
        list.add(1): Unit
        val counts = Task {
          var n = 0
          try
            val all = list.iterator()
            while all.hasNext do
              all.next(): Unit
              n += 1
            s"$n"
          catch case _: ConcurrentModificationException => "modified"
        }
        Task.both(counts, Task(list.add(2))).map(_._1)
      }
    }

  test("a field that an updater changes may be read before and after"):
    shows((0, 0), (0, 1), (1, 1)) {
      Task.defer {
        val box = OrdersThatDifferSuite.Updated()
        Task.both(Task((box.n, box.n)), Task(box.add())).map(_._1)
      }
    }

  test("a function that changes an atomic is called again, where the atomic has changed meanwhile"):
    shows(1, 2) {
      Task.defer {
        val x, calls = AtomicInteger()
        val adds = Task(x.updateAndGet { n =>
          calls.incrementAndGet(): Unit; n + 1
        })
        Task.both(adds, Task(x.incrementAndGet())).map(_ => calls.get)
      }
    }

  test("a value that a plain map does not have may be computed twice"):
    shows(1, 2) {
      Task.defer {
        val map = mutable.Map[String, Int]()
        val calls = AtomicInteger()
        val gets = Task(map.getOrElseUpdate("n", calls.incrementAndGet()))
        Task.both(gets, gets).map(_ => calls.get)
      }
    }

  // ---- threads: interrupts, permits, ends ----

  test("a cancel may come between a step and the lock that it interrupts"):
    shows((0, 0), (1, 0), (1, 1)) {
      Task.defer {
        val lock = ReentrantLock()
        val a, b, c = AtomicInteger()
        val body = Task {
          a.set(1)
          lock.lockInterruptibly()
          b.set(1)
          c.set(1)
          lock.unlock()
        }
        for
          fiber <- body.start
          _ <- fiber.cancel
        yield (a.get, b.get)
      }
    }

  test("a thread may be interrupted before it looks, and after"):
    shows(true, false) {
      Task {
        val result = AtomicInteger()
        val thread = Thread
          .ofVirtual()
          .start(() => result.set(if Thread.currentThread().isInterrupted then 1 else 2))
        thread.interrupt()
        thread.join()
        result.get == 1
      }
    }

  test("a thread has ended, or not"):
    shows((true, 0), (true, 1), (false, 1)) {
      Task {
        val x = AtomicInteger()
        val thread = Thread.ofVirtual().start(() => x.set(1))
        val alive = thread.isAlive
        val seen = x.get
        thread.join()
        (alive, seen)
      }
    }

  test("two permits for a thread are one, where none is taken in between"):
    val failure = intercept[weir.testkit.ExploreFailure](TestRuntime.explore() {
      Task {
        val steps = AtomicInteger()
        val thread = Thread.ofVirtual().start { () =>
          LockSupport.park()
          LockSupport.park()
          steps.set(1)
        }
        LockSupport.unpark(thread)
        LockSupport.unpark(thread)
        thread.join()
      }
    })
    assert(failure.getCause.isInstanceOf[TestRuntime.Stuck], s"$failure")

  // ---- what cannot be left ----

  test("a static synchronized method is entered in each order"):
    shows("ab", "ba") {
      Task.defer {
        val log = StringBuilder()
        def add(text: String) = Task(SynchronizedMethods.inStatic(() => log.append(text): Unit))
        Task.both(add("a"), add("b")).map(_ => log.toString)
      }
    }

  test("a synchronized method that is called through an interface is entered in each order"):
    shows("ab", "ba") {
      Task.defer {
        val log = StringBuilder()
        val methods: java.util.function.Consumer[Runnable] = SynchronizedMethods()
        def add(text: String) = Task(methods.accept(() => log.append(text): Unit))
        Task.both(add("a"), add("b")).map(_ => log.toString)
      }
    }

private object OrdersThatDifferSuite:
  final class Updated:
    @volatile var n: Int = 0
    private val updater = AtomicIntegerFieldUpdater.newUpdater(classOf[Updated], "n")
    def add(): Int = updater.incrementAndGet(this)
