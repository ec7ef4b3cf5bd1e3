package weir

import scala.concurrent.duration.*
import weir.std.{Cache, CircuitBreaker, KeyedMutex, RateLimiter}

/** A task that continues for long takes no more heap than at its beginning. PAINS row 14. Cancelled
  * waits have a suite of their own, and so have streams that refer to themselves.
  * `-Dweir.stress.operations=10000000` sets the number of operations of each kind.
  */
class HeapSlopeSuite extends StreamTests:
  private val operations =
    java.lang.Long.getLong("weir.stress.operations", Tier(15_000L, 1_000_000L)).longValue

  override def limit: FiniteDuration = if operations > 1_000_000 then 1.hour else 30.seconds

  /** Runs `task` `operations` times on one fiber. Returns the number of bytes by which the heap
    * grows from the middle to the end, where the fiber has not ended yet.
    */
  private def slope(task: Task[Any]): Long =
    def times(left: Long): Task[Unit] =
      if left == 0 then Task.unit else task.flatMap(_ => times(left - 1))
    val half = times(operations / 2).andThen(Task(Heap.used()))
    half.flatMap(before => half.map(_ - before)).runSync()

  private val never = Deferred.unsafe[Unit]
  private val semaphore = Semaphore.unsafe(0)
  private val empty = Queue.unsafe[Int](1)
  private val channel, second = Channel.unsafe[Int](0)
  private val keys = KeyedMutex.unsafe[Int]()
  private val cache = Cache.unsafe[Int, Int]()
  private val limiter = RateLimiter.unsafe(1, 1.hour)
  private val others = List(Task.never, keys.withLock(0)(Task.never)).map(_.start.runSync())

  override def beforeAll(): Unit =
    assert(limiter.tryAcquire.runSync())
    eventually("the key is taken")(keys.isLocked(0).runSync())

  override def afterAll(): Unit = others.foreach(_.cancel.runSync())

  for (name, wait) <- List[(String, Task[Any])](
      "Deferred.get" -> never.get,
      "Semaphore.acquire" -> semaphore.acquire,
      "take of an empty queue" -> empty.take,
      "Channel.receive" -> channel.receive,
      "Channel.send" -> channel.send(1),
      "Channel.select" -> Channel.select(channel.receiveClause, second.receiveClause),
      "KeyedMutex.withLock" -> keys.withLock(0)(Task.unit),
      "Cache.get" -> cache.get(0)(Task.never),
      "RateLimiter.acquire" -> limiter.acquire,
      "join" -> others.head.join,
      "sleep" -> Task.sleep(1.hour),
      "never" -> Task.never,
      "a race" -> Task.race(never.get, Task.sleep(1.hour))
    )
  do
    test(s"row 14: losers of a race leave nothing behind: $name"):
      val grown = slope(Task.race(wait, Task.cede))
      assert(grown < megabyte / 2, s"$grown bytes are left of ${operations / 2} races")

  test("row 14: timeouts that are not needed, or that end a wait, leave nothing behind"):
    val needless = slope(Task.cede.timeout(1.hour))
    assert(needless < megabyte / 2, s"$needless bytes are left of ${operations / 2} timeouts")
    val needed = slope(never.get.timeoutTo(Duration.Zero, Task.unit))
    assert(needed < megabyte / 2, s"$needed bytes are left of ${operations / 2} timeouts")

  test("row 14: a circuit breaker keeps nothing of the calls that fail or are refused"):
    for refusing <- List(false, true) do
      val failures = if refusing then 1 else Int.MaxValue
      val breaker = CircuitBreaker.unsafe(failures, 1.hour)
      val grown = slope(breaker.protect(Task.fail(Boom())).attempt)
      assert(grown < megabyte / 2, s"$grown bytes are left of ${operations / 2} calls")

  private val numbers = Stream.unfold(0L)(i => Some((i, i + 1)))

  for (name, pipe) <- List[(String, Stream[Long] => Stream[Long])](
      "plain stages" -> (_.map(_ + 1).filter(_ > 0)),
      "evalMap" -> (_.evalMap(i => Task.cede.as(i))),
      "flatMap" -> (_.flatMap(Stream.emit)),
      "chunkN" -> (_.chunkN(10).flatMap(Stream.fromIterable)),
      "handleErrorWith" -> (_.handleErrorWith(Stream.fail)),
      "a resource for each element" -> (_.flatMap(i => Stream.bracket(Task(i))(_ => Task.unit))),
      "parEvalMap" -> (_.parEvalMap(4)(Task.pure)),
      "prefetchN" -> (_.prefetchN(16)),
      "prefetchBytes" -> (_.prefetchBytes(1000)(i => (i % 300).toInt)),
      "prefetchStrict" -> (_.prefetchStrict),
      "parJoin" -> (_.map(Stream.emit(_)).parJoin(4))
    )
  do
    test(s"row 14: a long stream leaves nothing behind while it runs: $name"):
      var elements, before, grown = 0L
      val count = pipe(numbers)
        .map { _ =>
          elements += 1
          if elements == operations / 2 then before = Heap.used()
          else if elements == operations then grown = Heap.used() - before
        }
        .take(operations)
        .count
      assertEquals(count.runSync(), operations)
      assert(grown < megabyte / 2, s"grew by $grown bytes over ${operations / 2} elements")
