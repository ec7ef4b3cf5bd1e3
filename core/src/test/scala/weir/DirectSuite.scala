package weir

import java.util.concurrent.{ConcurrentHashMap, CountDownLatch}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import scala.compiletime.testing.typeCheckErrors
import scala.concurrent.duration.*
import scala.util.Try
import scala.util.boundary

/** Plain code that awaits, at the places where that is allowed, and at those where it is not. */
class DirectSuite extends WeirSuite:

  /** Each kind of wait: none, in the run loop, off the thread, on a blocked thread, in another
    * fiber.
    */
  private def ways(value: Int): List[Task[Int]] = List(
    Task.pure(value),
    Task.delay(value),
    Task.cede.as(value),
    Task.sleep(1.milli).as(value),
    Task { Thread.sleep(1); value },
    Task.delay(value).start.flatMap(_.joinOrFail),
    Task.parTraverse(List(value))(Task.pure).map(_.head),
    Task.direct(Task.cede.as(value).await)
  )

  /** Runs `body` as a block on a fiber of its own, and on a caller's thread. */
  private def both[A](body: Task.Direct ?=> A)(check: A => Unit): Unit =
    check(Task.direct(body).runSync())
    check(Task.direct(body).start.flatMap(_.joinOrFail).runSync())

  test("await returns the task's value, whatever the task waits for"):
    for task <- ways(7) do both(task.await)(assertEquals(_, 7))

  test(
    "await works in while, for, match, a lambda, a local method, a by-name argument and a lazy val"
  ):
    for one <- ways(1) do
      both {
        var sum = 0
        while sum < 3 do sum += one.await
        for _ <- 1 to 2 do sum += one.await
        sum += List(1, 2).map(_ => one.await).sum
        def twice: Int = one.await + one.await
        lazy val late: Int = one.await
        sum += Option.empty[Int].getOrElse(one.await) + late + late + twice
        one.await match
          case 1 => sum
          case _ => -1
      }(assertEquals(_, 12))

  test("await works in Java callbacks on the same thread"):
    for one <- ways(1) do
      both {
        val map = ConcurrentHashMap[String, Int]()
        val seen = AtomicInteger()
        map.computeIfAbsent("a", _ => one.await): Unit
        java.util.List.of(1, 2, 3).forEach(n => seen.addAndGet(n * one.await): Unit)
        val sorted = java.util.stream.Stream.of(3, 1, 2).sorted((a, b) => (a - b) * one.await)
        sorted.toList.get(0) + seen.get + map.get("a")
      }(assertEquals(_, 8))

  test("await works while a monitor is held, which other fibers wait for"):
    val monitor = Object()
    val count = AtomicInteger()
    val block = Task.direct {
      monitor.synchronized {
        val before = count.get
        Task.sleep(1.milli).await
        count.set(before + 1)
      }
    }
    Task.parTraverse(1 to 10)(_ => block).runSync(): Unit
    assertEquals(count.get, 10)

  test("try sees the task's own error, and finally runs"):
    val boom = Boom()
    for failing <- List(Task.fail(boom), Task.delay(throw boom), Task.cede.andThen(Task.fail(boom)))
    do
      both {
        var trace = List.empty[String]
        try failing.await
        catch case e: Exception => trace ::= s"caught ${e eq boom}"
        finally trace ::= "finally"
        trace.reverse
      }(assertEquals(_, List("caught true", "finally")))
      assertEquals(Task.direct(failing.await).attempt.runSync(), Left(boom))
      both(Try(failing.await).failed.get)(e => assert(e eq boom))

  test("boundary and break leave a block's loop, and await goes on after it"):
    both {
      val found = boundary:
        for i <- 1 to 10 do if Task.cede.as(i).await == 3 then boundary.break(i)
        -1
      found + Task.cede.as(1).await
    }(assertEquals(_, 4))

  test("a method that takes Task.Direct may be called from any block"):
    def price(item: Int)(using Task.Direct): Int = Task.cede.as(item * 10).await
    both(price(1) + price(2))(assertEquals(_, 30))

  test("blocks nest, and each awaits for itself"):
    both {
      val inner = Task.direct {
        val innermost = Task.direct(Task.cede.as(1).await + 1)
        innermost.await + innermost.await
      }
      inner.await + Task.parTraverse(1 to 3)(_ => inner).await.sum
    }(assertEquals(_, 16))

  test("a block is a task: each run is a new one, also at the same time"):
    val runs = AtomicInteger()
    val block = Task.direct { runs.incrementAndGet(); Task.cede.await; runs.get }
    Task.parTraverse(1 to 100)(_ => block).runSync(): Unit
    assertEquals(runs.get, 100)

  test("blocks nest a hundred deep, and plain recursion inside of one a thousand"):
    def down(left: Int): Task[Int] =
      Task.direct(if left == 0 then 0 else down(left - 1).await + 1)
    def plain(left: Int)(using Task.Direct): Int =
      if left == 0 then Task.cede.as(0).await else plain(left - 1) + 1
    both(down(100).await)(assertEquals(_, 100))
    both(plain(1000))(assertEquals(_, 1000))

  test("an error keeps the trace of the code that awaited"):
    def failing: Task[Int] = Task.delay(throw IllegalArgumentException("no"))
    val block = Task.direct(awaitsWhatFails(failing))
    val error = intercept[IllegalArgumentException](block.runSync())
    val methods = error.getStackTrace.toList.map(_.getMethodName)
    assert(methods.contains("awaitsWhatFails"), methods)

  private def awaitsWhatFails(task: Task[Int])(using Task.Direct): Int = task.await + 1

  // ---- places where it is not allowed ----

  private def refusal(body: => Any): String = intercept[IllegalStateException](body).getMessage

  test("await on another thread fails there with what to do, and the block goes on"):
    both {
      val here = Thread.currentThread()
      val message = AtomicReference("")
      val thread = Thread.startVirtualThread { () =>
        message.set(refusal(Task.cede.await))
      }
      Task(thread.join()).await
      assert(Thread.currentThread() eq here)
      Task.cede.await
      message.get
    }(message => assert(message.contains("Only the thread that runs a block may await"), message))

  test(
    "await in a child fiber in the name of its parent's block fails there, and the block goes on"
  ):
    both {
      val wrong = Task.delay(Task.unit.await).start.flatMap(_.join).await
      val parallel = Task.parTraverse(1 to 3)(_ => Task.delay(Task.cede.await)).attempt.await
      assert(parallel.isLeft, parallel)
      Task.cede.await
      wrong
    } {
      case Outcome.Failed(_: IllegalStateException) => ()
      case other => fail(s"$other")
    }

  test("await after the block has ended fails, also in a later block of the same fiber"):
    val task = Task
      .direct[() => Int](() => Task.cede.as(1).await)
      .flatMap(late =>
        Task.delay(refusal(late())).flatMap(first => Task.direct((first, refusal(late()))))
      )
    for run <- List(task, task.start.flatMap(_.joinOrFail)) do
      val (first, second) = run.runSync()
      assert(first.contains("after its Task.direct had ended"), first)
      assert(second.contains("after its Task.direct had ended"), second)

  test("await in a function of a task that the block awaits fails, and the block goes on"):
    val wrong = List[Task.Direct ?=> Task[Any]](
      Task.delay(Task.unit.await),
      Task.unit.map(_ => Task.cede.await),
      Task.cede.flatMap(_ => Task.pure(Task.unit.await)),
      Task.foreach(1 to 3)(_ => Task.delay(Task.unit.await)),
      Task.unit.guarantee(Task.delay(Task.unit.await)),
      Stream.fromIterable(1 to 3).map(_ => Task.unit.await).drain,
      Task.direct(summon[Task.Direct]).map(inner => Task.unit.await(using inner))
    )
    for task <- wrong do
      both {
        val message = refusal(task.await)
        Task.cede.await
        message
      }(message => assert(message.contains("await was called"), message))

  test("await in an inner block or a nested runSync, in the name of the outer block, fails"):
    both {
      val outer = summon[Task.Direct]
      val inner = refusal(Task.direct(Task.cede.await(using outer)).await)
      val nested = refusal(Task.delay(Task.cede.await).runSync())
      val masked = refusal(
        Task.uncancelable(_ => Task.direct(Task.delay(Task.cede.await).runSync())).await
      )
      Task.cede.await
      List(inner, nested, masked)
    }(
      _.foreach(message => assert(message.contains("that its Task.direct is waiting for"), message))
    )

  test("await outside of a block does not compile, and the message says what to do"):
    val errors = typeCheckErrors("Task.unit.await")
    assert(errors.head.message.contains("await needs an enclosing Task.direct"), errors)

  test("for x <- stream outside of Task.direct: the message is about the loop"):
    for errors <- List(
        typeCheckErrors("for x <- Stream.emit(1) do println(x)"),
        typeCheckErrors("for x <- Stream.emit(1); y <- Stream.emit(2) do println(x + y)")
      )
    do
      assert(errors.head.message.startsWith("`for x <- stream do ...` runs the stream"), errors)
      assert(!errors.exists(_.message.contains("await")), errors)

  test("an interrupt by other code, while await has parked the thread, is there after it"):
    val go = Deferred.unsafe[Unit]
    val thread = AtomicReference[Thread | Null](null)
    val block = Task.direct {
      thread.set(Thread.currentThread())
      go.get.await
      Thread.interrupted()
    }
    val fiber = block.start.runSync()
    eventually("it waits")(isWaiting(fiber))
    thread.get.nn.interrupt()
    go.complete(()).runSync(): Unit
    assert(fiber.joinOrFail.runSync())

  test("a guard in a for over a stream filters it"):
    val doubled = for x <- Stream.emits(1 to 4) if x % 2 == 0 yield x * 2
    assertEquals(doubled.toList.runSync(), List(4, 8))
    var seen = List.empty[Int]
    Task.direct { for x <- Stream.emits(1 to 4) if x % 2 == 0 do seen = x :: seen }.runSync()
    assertEquals(seen, List(4, 2))

  // ---- streams ----

  test("a stream is a loop whose body awaits, and its finalizers run however the loop is left"):
    for end <- List("all", "break", "throw") do
      val log = AtomicReference(List.empty[String])
      def say(line: String) = Task(log.updateAndGet(line :: _)).void
      val stream = Stream
        .bracket(say("open"))(_ => say("close"))
        .flatMap(_ => Stream.fromIterable(1 to 3).evalTap(i => say(s"pull $i")))
        .prefetchN(1)
        .map(identity)
      val boom = Boom()
      val block = Task.direct {
        var sum = 0
        boundary:
          for i <- stream do
            sum += Task.cede.as(i).await
            if i == 2 && end == "break" then boundary.break()
            if i == 2 && end == "throw" then throw boom
        sum
      }
      val result = block.attempt.runSync()
      assertEquals(
        result,
        if end == "throw" then Left(boom) else Right(if end == "all" then 6 else 3)
      )
      assertEquals(log.get.last -> log.get.head, "open" -> "close")
