package weir
package japi

import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.jdk.DurationConverters.*
import weir.testkit.TestRuntime

/** The results that JavaApiUser, a program in Java, gets from each class of `weir.japi`. */
class JavaApiSuite extends WeirSuite:

  private def none = java.util.Optional.empty[String]

  private def texts(values: java.util.List[Object]): List[String] =
    values.asScala.toList.map(String.valueOf)

  test("tasks"):
    assertEquals(
      texts(JavaApiUser.tasks()),
      List("4", "next", "tap 1", "1", "b1", "1", "1", "deferred", "null", "stage", "[1, 2]") ++
        List("[1, 4, 9]", "1", "1")
    )

  test("more of tasks"):
    assertEquals(
      texts(JavaApiUser.moreTasks()),
      List("1", "true none", "true", "1", "[-1, -2, -3]", "released 1", "used 1", "ended with 1") ++
        List("whole", "false", "1", "true")
    )

  test("queues, channels, permits, limits, caches, pools, breakers and locals"):
    assertEquals(
      texts(JavaApiUser.primitives()),
      List("false", "aOptional[b]Optional.empty", "1", "[d]", "2", "true", "[1, 2]", "true") ++
        List("closed", "1", "0", "false", "loaded 1", "loaded 1", "Optional.empty") ++
        List("parser released", "parser", "true", "CircuitOpen", "ann", "bob", "nobody")
    )

  test("errors, retries and finalizers"):
    assertEquals(
      texts(JavaApiUser.errors()),
      List("none", "other", "any", "not recovered", "3", "run 1", "15", "finalizer", "16")
    )

  test("cancelling the future interrupts the code, and runs its finalizers"):
    assertEquals(texts(JavaApiUser.cancelled()).toSet, Set("true", "cancelled"))

  test("a schedule waits as its parts say"):
    val waits = Stream.from(weir.Stream.fromSchedule(JavaApiUser.schedule().underlying))
    val (took, count) = TestRuntime.timed(waits.count().asScala)
    assertEquals((count.longValue, took), (5L, (11 + 21 + 31 + 31 + 5).millis))

  test("scopes"):
    val seen = texts(JavaApiUser.scopes())
    assertEquals(seen, List("3", "child", "the other one ends", "first"))

  test("resources are released in reverse order, once, also after an error"):
    assertEquals(
      texts(JavaApiUser.resources()),
      List("-ab", "-a", "ab!", "-ab", "-a", "3", "-a", "ac", "-a", "in use of a", "open a", "-a") ++
        List("finalizer", "closed", "true", "-a", "-a", "in time: a")
    )

  test("streams"):
    assertEquals(
      texts(JavaApiUser.streams()),
      List("[12, 14, 16, 18]", "[2, -2, 3, -3]", "[0, 0, 1, 1, 2, 2]") ++
        List("[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]", "[, 0, 01, 012]", "[a0, b1]") ++
        List("closed", "[101, 102]", "[a, b]") ++
        List("55", "10", "45", "90", "Optional[0]", "Optional.empty", "[broken]", "[1, 2]") ++
        List("[3]", "[4, 5]", "[2, 1]", "tap", "tap", "0", "over", "released", "[r]") ++
        List("10", "2", "10", "[10]", "[[0, 1, 2], [3]]")
    )

  test("streams of the JDK, publishers and processors, both ways"):
    assertEquals(
      texts(JavaApiUser.otherStreams()),
      List("[0, 1]", "over", "[a, b]", "[a, b]", "[a, b]", "[a, b]", "closed", "[3, 5]") ++
        List("over", "[0]")
    )

  test("queues and channels refuse null, which tryTake could not tell from nothing"):
    val queue = Queue.unbounded[String]()
    val channel = Channel.unbounded[String]()
    val adds = List(
      queue.offer(null),
      queue.tryOffer(null),
      queue.offerAll(java.util.Arrays.asList("a", null)),
      channel.send(null),
      channel.trySend(null)
    )
    for add <- adds do intercept[NullPointerException](add.runSync())
    assertEquals((queue.tryTake().runSync(), channel.tryReceive().runSync()), (none, none))

  test("a duration above 292 years counts as no limit"):
    val forever = java.time.temporal.ChronoUnit.FOREVER.getDuration
    assertEquals(Task.pure("in time").timeout(forever).runSync(), "in time")
    val capped = Schedule.spaced(java.time.Duration.ofMillis(Long.MaxValue)).capped(1.milli.toJava)
    assertEquals(weir.Stream.fromSchedule(capped.underlying).take(2).count.runSync(), 2L)

  test("a limiter, a cache and a breaker follow the clock of the runtime that uses them"):
    val aSecond = 1.second.toJava
    val limiter = RateLimiter.of(1, aSecond)
    val cache = Cache.of[String, String](10, aSecond)
    val breaker = CircuitBreaker.of(1, aSecond)
    def load(value: String) = cache.get("key", _ => Task.pure(value)).asScala
    val program =
      for
        _ <- limiter.acquire().asScala
        _ <- limiter.acquire().asScala // a second later
        first <- load("first")
        _ <- breaker.protect(Task.fail[String](Boom())).attempt().asScala
        _ <- weir.Task.sleep(1.second)
        second <- load("second")
        probed <- breaker.protect(Task.pure("probed")).asScala
      yield (first, second, probed)
    // The clock of each test begins anew.
    for _ <- 1 to 2 do
      assertEquals(TestRuntime.timed(program), (2.seconds, ("first", "second", "probed")))

  test("a resource that was opened has no value after its release"):
    val opened = Resource.make(() => "value", _ => ()).open()
    assertEquals(opened.get(), "value")
    opened.close()
    opened.close()
    val error = intercept[IllegalStateException](opened.get(): Unit)
    assertEquals(
      error.getMessage,
      "Opened.get: the resource was released by close. Use its value before that."
    )
