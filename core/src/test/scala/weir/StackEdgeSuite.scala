package weir

import java.util.concurrent.{CancellationException, CompletableFuture, ConcurrentLinkedQueue}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.util.Try

/** Code that uses the thread's stack up, at every place of the run loop that it can be used up in.
  */
class StackEdgeSuite extends WeirSuite:

  override def limit: FiniteDuration = 30.seconds

  /** Runs `body` on a thread with a small stack, and returns its result. */
  private def onSmallStack[A](body: => A): A =
    val result = CompletableFuture[Try[A]]()
    Thread(null, () => result.complete(Try(body)): Unit, "small stack", 256 * 1024).start()
    result.get.get

  /** Runs `body`, `calls` plain calls further down. */
  private def below[A](calls: Int)(body: => A): A =
    if calls == 0 then body
    else
      val result = below(calls - 1)(body)
      AtomicInteger(calls).get // so that this is no tail call
      result

  private def caught[A](value: A)(body: => A): A =
    try body
    catch case _: StackOverflowError => value

  test("recursion without an end fails with a StackOverflowError, and the fiber goes on"):
    def down: Task[Int] = Task.direct(down.await + 1)
    val task = Task.direct {
      val overflows = caught(1)(down.await)
      Task.cede.as(overflows).await
    }
    val after = Task.direct(task.await + Task.sleep(1.milli).as(1).await)
    assertEquals(after.start.flatMap(_.joinOrFail).runSync(), 2)

  test("wherever the stack of nested blocks ends, the fiber goes on, and is not masked"):
    val masked = AtomicInteger()
    def down(left: Int): Task[Int] = Task.uncancelable { poll =>
      poll(Task.direct(below(left % 3)(down(left + 1).await + 1)))
    }
    // JDK 25.0.3 was seen to crash once as a virtual thread was mounted at the end of its stack.
    for calls <- 0 to 60 by Tier(6, 1) do
      val task = Task.direct {
        val overflows = caught(1)(below(calls)(down(calls).await))
        Task.canceled.attempt.await: Unit
        masked.incrementAndGet()
        overflows
      }
      val outcome = onSmallStack(task.attempt.start.flatMap(_.join).runSync())
      assertEquals(outcome, Outcome.Canceled)
      intercept[CancellationException](onSmallStack(task.runSync()))
    assertEquals(masked.get, 0)

  /** A use that overflows the stack, and so do the functions that make its finalizers, one after
    * the other.
    */
  private def overflowing(finalizers: Int): Task[Int] =
    def overflow() = throw StackOverflowError("a test's")
    (1 to finalizers).foldLeft[Task[Int]](Task(overflow()))((task, _) =>
      Task.bracket(Task.unit)(_ => task)(_ => overflow())
    )

  test("unwinding that overflows the stack of runSync's caller goes on elsewhere, to its end"):
    val threads = ConcurrentLinkedQueue[Thread]()
    val see = Task(threads.add(Thread.currentThread())).void
    val task = overflowing(3).guarantee(see).attempt
    val own = Thread.currentThread()
    val result = task.runSync()
    assertEquals(result.left.toOption.get.getMessage, "a test's")
    assertEquals(threads.size, 1)
    assert(threads.peek != own)

  test("unwinding that overflows an await again and again leaves it, with its masks"):
    val after = AtomicInteger()
    val task = Task.direct {
      caught(1)(Task.uncancelable(_ => overflowing(20)).await): Unit
      Task.cede.await
      after.incrementAndGet(): Unit
      Task.canceled.await
      after.incrementAndGet(): Unit
    }
    assertEquals(task.start.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(after.get, 1)

  test("a nested runSync at the end of the stack ends, and so do the fibers that it has begun"):
    val begun, ended = AtomicInteger()
    val task = Task
      .bracket(Task(begun.incrementAndGet()))(_ =>
        Task.parTraverse(1 to 3)(i => Task(below(i * 5)(i)).flatMap(i => Task.cede.as(i)))
      )(_ => Task(ended.incrementAndGet()).void)
      .map(_.sum)
    onSmallStack {
      Task {
        task.runSync(): Unit // so that its classes are there
        Task {
          val calls = (1 to 100_000).find(n => caught(true)(below(n)(false))).get
          for n <- calls - 400 to calls by Tier(4, 1) do
            assert(Set(0, 6)(caught(0)(below(n)(task.runSync()))))
        }.runSync()
      }.runSync()
    }
    eventually(s"$begun begun, $ended ended")(begun.get == ended.get)
