package weir
package stream

import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import java.util.concurrent.{CountDownLatch, Flow, TimeUnit}
import scala.util.Random

/** Elements through `toPublisher` and `fromPublisher` under load: requests, cancels and ends at any
  * moment, from any thread. It looks for an element, a request or an end that is lost, an element
  * that was not requested, two signals at a time, and a finalizer that does not run.
  *
  * `-Dweir.stress.seconds=60` sets the time, `-Dweir.stress.seed=` the seed that a failure prints.
  */
class FlowStressSuite extends StreamTests, StressTests:

  private def rounds(name: String)(body: Random => Unit): Unit = stress(name) { (seed, deadline) =>
    val random = Random(seed)
    while deadline.hasTimeLeft() do body(random)
  }

  private def spin(random: Random, most: Int): Unit =
    for _ <- 0 until random.nextInt(most + 1) do Thread.onSpinWait()

  /** A source of `count` elements: ready, one by one, or of another fiber. */
  private def source(kind: Int, count: Int): Stream[Int] = kind match
    case 0 => Stream.fromIterable(List.range(0, count))
    case 1 => Stream.range(0, count).evalTap(i => Task.when(i % 3 == 0)(Task.cede))
    case 2 => Stream.range(0, count).prefetchN(3)
    case _ => Stream.range(0, count).parEvalMap(2)(i => Task.cede.as(i))

  /** A subscriber that checks each signal. */
  private final class Checking(cancelAt: Int, pause: Int = 0) extends Flow.Subscriber[Int]:
    val requested = AtomicLong()
    val next, inside, ends = AtomicInteger()
    val over = CountDownLatch(1)
    @volatile var broken: String | Null = null
    @volatile var subscription: Flow.Subscription | Null = null

    private def signal(name: String)(body: => Unit): Unit =
      if inside.incrementAndGet() != 1 then broken = s"$name during another signal"
      if ends.get > 0 then broken = s"$name after the end"
      body
      inside.decrementAndGet(): Unit

    def request(n: Long): Unit =
      requested.addAndGet(n): Unit
      subscription.nn.request(n)

    def onSubscribe(first: Flow.Subscription): Unit = signal("onSubscribe") { subscription = first }
    def onNext(element: Int): Unit = signal("onNext") {
      if element != next.getAndIncrement() then broken = s"$element out of order"
      if next.get > requested.get then broken = s"$element was not requested"
      for _ <- 0 until pause do Thread.onSpinWait()
      if next.get == cancelAt then
        subscription.nn.cancel()
        over.countDown()
    }
    def onError(error: Throwable): Unit = signal("onError") {
      broken = s"onError: $error"
      over.countDown()
    }
    def onComplete(): Unit =
      signal("onComplete")(())
      ends.incrementAndGet(): Unit
      over.countDown()

  rounds("toPublisher: what is requested by several threads comes, in order, and then the end") {
    random =>
      val count = random.nextInt(200)
      val kind = random.nextInt(4)
      val released = CountDownLatch(1)
      // Without a finalizer, a collection is signalled by the threads that request.
      val isBare = kind == 0 && random.nextBoolean()
      if isBare then released.countDown()
      val stream =
        if isBare then source(kind, count)
        else
          Stream
            .bracket(Task.unit)(_ => Task(released.countDown()))
            .flatMap(_ => source(kind, count))
      val cancelAt = if random.nextInt(3) == 0 then 1 + random.nextInt(200) else -1
      val subscriber = Checking(cancelAt)
      stream.toPublisher.subscribe(subscriber)
      val seeds = Seq.fill(2)(random.nextLong())
      // Together they request at least one more than there are.
      together(seeds.map { seed => () =>
        val own = Random(seed)
        var left = count / 2 + 1
        while left > 0 do
          val n = 1 + own.nextInt(left.min(9))
          subscriber.request(n)
          left -= n
          spin(own, 200)
      })
      assert(
        subscriber.over.await(10, TimeUnit.SECONDS),
        s"stuck at ${subscriber.next} of $count, requested ${subscriber.requested}"
      )
      assert(released.await(10, TimeUnit.SECONDS), "the finalizer has not run")
      assertEquals(subscriber.broken, null)
      if subscriber.ends.get == 1 then assertEquals(subscriber.next.get, count)
      else assertEquals(subscriber.next.get, cancelAt)
  }

  private val handOvers = Tier(200, 2_000) // each takes milliseconds on a busy machine

  // A request that wakes nobody is made good by the next one: so there is no next one before its
  // element has come.
  rounds("toPublisher: each request brings its element, where there is one at a time") { random =>
    val subscriber = Checking(-1)
    val count = handOvers
    source(random.nextInt(2), count).toPublisher.subscribe(subscriber)
    for n <- 1 to count do
      val deadline = System.nanoTime() + 10_000_000_000L
      subscriber.request(1)
      while subscriber.next.get < n do
        if System.nanoTime() > deadline then fail(s"request $n of $count brought nothing")
      spin(random, 100)
    subscriber.request(1)
    assert(subscriber.over.await(10, TimeUnit.SECONDS), "no end")
    assertEquals(subscriber.broken, null)
  }

  rounds("fromPublisher: each element wakes the stream, where it is the only one") { random =>
    val publisher = Threaded(handOvers, random.nextLong())
    assertEquals(Stream.fromPublisher(publisher, 1).count.runSync(), handOvers.toLong)
    publisher.thread.nn.join()
  }

  rounds("toPublisher: a collection that several threads request one by one") { random =>
    val subscriber = Checking(-1, pause = random.nextInt(20))
    val each = 500
    source(0, 3 * each).toPublisher.subscribe(subscriber)
    together(Seq.fill(3) { () =>
      for _ <- 1 to each do subscriber.request(1)
    })
    subscriber.request(1)
    assert(subscriber.over.await(10, TimeUnit.SECONDS), "no end")
    assertEquals((subscriber.broken, subscriber.next.get), (null, 3 * each))
  }

  rounds("toPublisher: a collection that is cancelled at any moment gives no more") { random =>
    val subscriber = Checking(-1)
    val seed = random.nextLong()
    val pause = random.nextInt(2_000)
    together(
      Seq(
        () =>
          val own = Random(seed)
          source(0, 10_000).toPublisher.subscribe(subscriber)
          for _ <- 1 to 20 do
            subscriber.request(1 + own.nextInt(200))
            spin(own, 50)
        ,
        () =>
          while subscriber.subscription eq null do Thread.onSpinWait()
          for _ <- 0 until pause do Thread.onSpinWait()
          subscriber.subscription.nn.cancel()
      )
    )
    eventually("quiet")(WeirRuntime.default.isQuiet && subscriber.inside.get == 0)
    val before = subscriber.next.get
    subscriber.request(5)
    assertEquals((subscriber.next.get, subscriber.broken, subscriber.ends.get), (before, null, 0))
  }

  rounds("toPublisher: cancelled at any moment by a thread, its finalizer runs once") { random =>
    val opened, closed = AtomicInteger()
    val kind = random.nextInt(4)
    val stream = Stream
      .bracket(Task(opened.incrementAndGet()))(_ => Task(closed.incrementAndGet()).void)
      .flatMap(_ => source(kind, 10_000))
    val subscriber = Checking(-1)
    val request = 1L + random.nextInt(5_000)
    val pause = if random.nextBoolean() then random.nextInt(300) else random.nextInt(20_000)
    together(
      Seq(
        () =>
          stream.toPublisher.subscribe(subscriber)
          subscriber.request(request)
        ,
        () =>
          while subscriber.subscription eq null do Thread.onSpinWait()
          for _ <- 0 until pause do Thread.onSpinWait()
          subscriber.subscription.nn.cancel()
      )
    )
    eventually(s"closed as often as opened: $opened, $closed")(
      WeirRuntime.default.isQuiet && opened.get == closed.get
    )
    assertEquals(subscriber.broken, null)
    assertEquals(subscriber.ends.get, 0)
  }

  /** A publisher on a thread of its own, which signals the requested elements, and then ends. */
  private final class Threaded(count: Int, seed: Long) extends Flow.Publisher[Int]:
    val wanted = AtomicLong()
    val cancelled = AtomicInteger()
    @volatile var thread: Thread | Null = null

    def subscribe(to: Flow.Subscriber[? >: Int]): Unit =
      val random = Random(seed)
      thread = Thread.ofPlatform().daemon().start { () =>
        spin(random, 500)
        to.onSubscribe(new Flow.Subscription:
          def request(n: Long): Unit = wanted.addAndGet(n): Unit
          def cancel(): Unit = cancelled.incrementAndGet(): Unit)
        var i = 0
        while i < count && cancelled.get == 0 do
          while wanted.get == 0 && cancelled.get == 0 do Thread.onSpinWait()
          if cancelled.get == 0 then
            wanted.decrementAndGet(): Unit
            to.onNext(i)
            i += 1
            spin(random, 50)
        if cancelled.get == 0 then to.onComplete()
      }

  rounds("fromPublisher: all elements of a thread come in order, and then the end") { random =>
    val count = random.nextInt(300)
    val publisher = Threaded(count, random.nextLong())
    val pause = random.nextInt(200)
    val buffer = 1 + random.nextInt(9)
    val plain =
      Stream.fromPublisher(publisher, buffer).evalTap(i => Task.when(i % 7 == 0)(Task.cede))
    val form = random.nextInt(3)
    val stream = form match
      case 0 => plain
      case 1 => plain.prefetchN(3)
      case _ =>
        plain.map { i =>
          for _ <- 0 until pause do Thread.onSpinWait(); i
        }
    val stop = if random.nextBoolean() then random.nextInt(300) else Int.MaxValue
    val taken = stream.take(stop).toList
    val list =
      if random.nextBoolean() then taken.runSync()
      else taken.start.flatMap(_.joinOrFail).runSync()
    assertEquals(list, List.range(0, count.min(stop)))
    assert(publisher.cancelled.get <= 1)
    if publisher.thread ne null then publisher.thread.nn.join()
  }

  rounds("fromPublisher: cancelled at any moment, the subscription is cancelled once") { random =>
    val publisher = Threaded(Int.MaxValue, random.nextLong())
    val buffer = 1 + random.nextInt(9)
    val fiber = Stream.fromPublisher(publisher, buffer).drain.start.runSync()
    val until = System.nanoTime() + random.nextInt(200_000)
    while System.nanoTime() < until do Thread.onSpinWait()
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    // If the subscription comes after the cancel, it is cancelled as it comes.
    if publisher.thread ne null then
      publisher.thread.nn.join()
      assertEquals(publisher.cancelled.get, 1)
  }
