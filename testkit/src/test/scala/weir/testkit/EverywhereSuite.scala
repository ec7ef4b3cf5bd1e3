package weir.testkit

import java.util.concurrent.TimeoutException
import scala.concurrent.duration.*
import weir.std.RateLimiter
import weir.{Outcome, Queue, Ref, Resource, Semaphore, Task}

class EverywhereSuite extends munit.FunSuite:

  private def ends(body: (Outcome[Any] => Unit) => Unit): Set[String] =
    val seen = scala.collection.mutable.Set[String]()
    body {
      case Outcome.Failed(error) => seen += error.getClass.getSimpleName
      case Outcome.Canceled => seen += "cancelled"
      case Outcome.Succeeded(value) => seen += s"$value"
    }
    seen.toSet

  test("a task is cancelled before each of its steps, and after its end"):
    val counts = scala.collection.mutable.Set[Int]()
    val outcomes = ends(seen =>
      TestRuntime.cancelEverywhere() { cancelled =>
        for
          steps <- Ref.of(0)
          outcome <- cancelled(Task.foreach(1 to 4)(_ => steps.update(_ + 1)).as("done"))
          n <- steps.get
          _ <- Task { counts += n; seen(outcome) }
        yield ()
      }: Unit
    )
    assertEquals(outcomes, Set("cancelled", "done"))
    assertEquals(counts.toSet, Set(0, 1, 2, 3, 4))

  test("a task is cancelled while it sleeps, at each time"):
    val times = scala.collection.mutable.Set[Long]()
    TestRuntime.cancelEverywhere() { cancelled =>
      for
        _ <- cancelled(Task.sleep(1.second).andThen(Task.sleep(2.seconds)))
        now <- Task.monotonic
        _ <- Task(times += now.toSeconds - 1)
      yield ()
    }: Unit
    assertEquals(times.toSet, Set(0L, 1L, 3L))

  test("an alarm that finds its monitor held rings once the holder has left it"):
    val limits = ExploreLimits(time = 2.seconds, inside = List("weir.std.RateLimiter"))
    val report = TestRuntime.cancelEverywhere(limits) { cancelled =>
      for
        limiter <- RateLimiter(1, 1.second)
        _ <- limiter.acquire
        _ <- cancelled(limiter.acquire)
        _ <- limiter.acquire
      yield ()
    }
    assert(report.took < 10.seconds, report.toString)
    assert(report.preemptions >= 1, report.toString)

  test("a resource that a cancel leaves open is found: acquired before the finalizer is in place"):
    val error = intercept[ExploreFailure](TestRuntime.cancelEverywhere() { cancelled =>
      for
        open <- Ref.of(0)
        use = open.update(_ + 1).flatMap(_ => Task.cede.guarantee(open.update(_ - 1)))
        _ <- cancelled(use)
        left <- open.get
      yield assert(left == 0, s"$left left open")
    })
    assert(error.getMessage.contains("1 left open"), error.getMessage)

  test("a resource is released once, wherever its use is cancelled"):
    val report = TestRuntime.cancelEverywhere() { cancelled =>
      for
        log <- Ref.of(List.empty[String])
        resource = Resource.make(log.update("open" :: _))(_ => log.update("close" :: _))
        _ <- cancelled(resource.use(_ => Task.cede.andThen(Task.cede)))
        seen <- log.get
      yield assert(seen.isEmpty || seen == List("close", "open"), s"$seen")
    }
    assert(report.isExhaustive, report.toString)

  test("a permit that is lost by a cancel is found"):
    val error = intercept[ExploreFailure](TestRuntime.cancelEverywhere() { cancelled =>
      for
        permits <- Semaphore(1)
        _ <- cancelled(permits.acquire.andThen(Task.cede).andThen(permits.release))
        free <- permits.available
      yield assertEquals(free, 1L)
    })
    assert(error.story.contains("cancels fiber 2"), error.story)

  test("no item is lost where a taker is cancelled: taken, or still in the queue"):
    val report = TestRuntime.cancelEverywhere() { cancelled =>
      for
        queue <- Queue.unbounded[Int]
        taken <- Ref.of(0)
        offer <- queue.offer(1).start
        _ <- cancelled(
          Task.uncancelable(poll => poll(queue.take).flatMap(_ => taken.update(_ + 1)))
        )
        _ <- offer.join
        n <- taken.get
        left <- queue.size
      yield assertEquals(n + left, 1)
    }
    assert(report.isExhaustive, report.toString)

  test("each piece of plain code fails in one order, and in one order none does"):
    val outcomes = scala.collection.mutable.Set[List[Int]]()
    val ended = ends(seen =>
      TestRuntime.failEverywhere() { failing =>
        for
          log <- Ref.of(List.empty[Int])
          outcome <- failing(Task.foreach(1 to 3)(n => Task(n).flatMap(m => log.update(m :: _))))
          done <- log.get
          _ <- Task { outcomes += done; seen(outcome) }
        yield ()
      }: Unit
    )
    assertEquals(outcomes.toSet, Set(Nil, List(1), List(2, 1), List(3, 2, 1)))
    assertEquals(ended, Set("Injected", "()"))

  test("what is not released where code fails is found"):
    val error = intercept[ExploreFailure](TestRuntime.failEverywhere() { failing =>
      for
        open <- Ref.of(0)
        use = open.update(_ + 1).andThen(Task(1)).flatMap(_ => open.update(_ - 1))
        _ <- failing(use)
        left <- open.get
      yield assert(left == 0, s"$left left open")
    })
    assert(error.story.contains("an error is thrown here"), error.story)

  test("a timeout that comes first in one order only is found by cancels too"):
    val report = TestRuntime.cancelEverywhere(ExploreLimits(preemptions = 1)) { cancelled =>
      for
        log <- Ref.of(0)
        outcome <- cancelled(Task.sleep(1.second).guarantee(log.update(_ + 1)).timeout(1.second))
        n <- log.get
      yield
        assertEquals(n, if n == 0 then 0 else 1)
        outcome match
          case Outcome.Failed(error) => assert(error.isInstanceOf[TimeoutException], s"$error")
          case _ => ()
    }
    assert(report.isExhaustive, report.toString)
