package weir.metrics

import scala.concurrent.duration.*
import weir.*
import weir.std.*

class NamedMetricsSuite extends WeirSuite:

  private def points(metric: String, name: String): Map[String, Double] =
    Metrics.ofSources
      .filter(_.name == metric)
      .flatMap(_.points)
      .filter(_.attributes.contains("name" -> name))
      .map(point => point.attributes.drop(1).map(_._2).mkString -> point.value)
      .toMap

  private def eventually(condition: => Boolean): Unit =
    eventually(s"${Metrics.ofSources}")(condition)

  test("a queue") {
    val queue = Queue.unsafe[Int](2).named("orders 1")
    queue.offerAll(List(1, 2)).runSync()
    val offers = Task.traverse(3 to 5)(i => queue.offer(i).start).runSync()
    eventually(points("weir.queue.waiting", "orders 1") == Map("room" -> 3.0, "value" -> 0.0))
    assertEquals(points("weir.queue.size", "orders 1"), Map("" -> 2.0))
    assertEquals(points("weir.queue.capacity", "orders 1"), Map("" -> 2.0))
    Task.foreach(offers)(_.cancel).runSync()
    assertEquals(points("weir.queue.waiting", "orders 1"), Map("room" -> 0.0, "value" -> 0.0))
  }

  test("an unbounded queue has no capacity") {
    val queue = Queue.unbounded[Int].runSync().named("endless")
    queue.offer(1).runSync()
    assertEquals(points("weir.queue.size", "endless"), Map("" -> 1.0))
    assertEquals(points("weir.queue.capacity", "endless"), Map.empty)
  }

  test("a channel") {
    val channel = Channel.bounded[Int](4).runSync().named("lines")
    val receivers = Task.traverse(1 to 2)(_ => channel.receive.start).runSync()
    eventually(points("weir.channel.waiting", "lines") == Map("room" -> 0.0, "value" -> 2.0))
    Task.foreach(receivers)(_.cancel).runSync()
    channel.send(1).runSync()
    assertEquals(points("weir.channel.size", "lines"), Map("" -> 1.0))
  }

  test("the points know the line that has given the name") {
    val line = Throwable().getStackTrace.head.getLineNumber
    val queue = Queue.unbounded[Int].map(_.named("placed")).runSync() // line + 1
    val places = Metrics.ofSources
      .flatMap(_.points)
      .filter(_.attributes.contains("name" -> "placed"))
      .map(_.namedAt.map(at => (at.getFileName, at.getLineNumber)))
    assertEquals(places.distinct, Vector(Some(("NamedMetricsSuite.scala", line + 1))))
    java.lang.ref.Reference.reachabilityFence(queue)
  }

  test("a semaphore and a mutex") {
    val semaphore = Semaphore.unsafe(2).named("connections")
    val mutex = Mutex.unsafe().named("ledger")
    val held = Task.traverse(1 to 5)(_ => semaphore.withPermit(Task.never).start).runSync()
    val locked = Task.traverse(1 to 3)(_ => mutex.withLock(Task.never).start).runSync()
    eventually(points("weir.semaphore.waiting", "connections") == Map("" -> 3.0))
    assertEquals(points("weir.semaphore.free", "connections"), Map("" -> 0.0))
    eventually(points("weir.mutex.waiting", "ledger") == Map("" -> 2.0))
    Task.foreach(held ++ locked)(_.cancel).runSync()
    assertEquals(points("weir.semaphore.free", "connections"), Map("" -> 2.0))
    assertEquals(points("weir.mutex.free", "ledger"), Map("" -> 1.0))
  }

  test("a schedule, over all of its runs") {
    val schedule = Schedule.recurs(3).named("attempts")
    val failing = Task.fail(Exception("no")).retry(schedule.capped(1.second)).attempt
    failing.andThen(failing).runSync(): Unit
    Task.unit.repeat(schedule).runSync(): Unit
    val decisions = points("weir.schedule.decisions", "attempts")
    assertEquals(decisions, Map("again" -> 9.0, "stop" -> 3.0))
    java.lang.ref.Reference.reachabilityFence(schedule)
  }

  test("a pool") {
    Pool(Resource.pure("a parser"), maxSize = 3)
      .use { pool =>
        pool.named("parsers")
        pool.use(_ => Task(points("weir.pool.resources", "parsers"))).map { during =>
          assertEquals(during, Map("idle" -> 0.0, "used" -> 1.0))
          assertEquals(points("weir.pool.resources", "parsers"), Map("idle" -> 1.0, "used" -> 0.0))
          assertEquals(points("weir.pool.size", "parsers"), Map("" -> 3.0))
        }
      }
      .runSync()
  }

  test("a cache counts its hits and misses from the time at which it is named") {
    val cache = Cache.unsafe[Int, String]()
    val load = Task("a user")
    cache.get(1)(load).runSync(): Unit
    cache.named("users")
    Task.foreach(List(1, 1, 2, 2, 3))(cache.get(_)(load)).runSync()
    cache.getIfPresent(4).runSync(): Unit
    assertEquals(points("weir.cache.lookups", "users"), Map("hit" -> 3.0, "miss" -> 3.0))
    assertEquals(points("weir.cache.size", "users"), Map("" -> 3.0))
  }

  test("a circuit breaker") {
    val breaker = CircuitBreaker.unsafe(1, 1.hour).named("mail")
    def state = points("weir.circuit_breaker.state", "mail").filter(_._2 == 1).keySet
    assertEquals(state, Set("closed"))
    breaker.protect(Task.fail(RuntimeException("boom"))).attempt.runSync(): Unit
    assertEquals(state, Set("open"))
  }

  test("a rate limiter") {
    val limiter = RateLimiter.unsafe(1, 1.hour).named("calls")
    val fibers = Task.traverse(1 to 4)(_ => limiter.acquire.start).runSync()
    eventually(points("weir.rate_limiter.waiting", "calls") == Map("" -> 3.0))
    Task.foreach(fibers)(_.cancel).runSync()
  }

  test("an observed stream") {
    val monitor = StreamMonitor.unsafe().named("feeds")
    Stream
      .range(0, 100)
      .named("read")
      .evalMap(i => Task(i))
      .named("store")
      .observed(monitor)
      .drain
      .runSync()
    assertEquals(points("weir.stream.elements", "feeds"), Map("read" -> 100.0, "store" -> 100.0))
  }

  test("points of one figure are together, and a source that is collected is gone") {
    val first = Queue.unsafe[Int](1).named("both 1")
    val second = Queue.unsafe[Int](1).named("both 2")
    assertEquals(Metrics.ofSources.count(_.name == "weir.queue.size"), 1)
    assert(points("weir.queue.size", "both 1").nonEmpty, first.toString)
    assert(points("weir.queue.size", "both 2").nonEmpty, second.toString)
    Queue.unsafe[Int](1).named("dropped")
    eventually {
      System.gc()
      points("weir.queue.size", "dropped").isEmpty
    }
  }

  test("a source of the program's own is read until it is closed, and may throw") {
    def figure = Metric("app.visits", Metric.Kind.Counter, "", "Visits.", Vector.empty)
    val bad = Metrics.register(() => throw RuntimeException("boom"))
    val good = Metrics.register(() => Vector(figure))
    assert(WeirRuntime.default.metrics.contains(figure))
    good.close()
    assert(!WeirRuntime.default.metrics.contains(figure))
    bad.close()
  }
