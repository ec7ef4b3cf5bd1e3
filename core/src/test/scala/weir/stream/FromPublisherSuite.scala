package weir
package stream

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, Flow, SubmissionPublisher}
import reactor.adapter.JdkFlowAdapter
import reactor.core.publisher.Flux
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

class FromPublisherSuite extends StreamTests:
  private type Subscriber = Flow.Subscriber[? >: Int]

  /** A publisher that a test controls, and that keeps the requests that it gets. */
  private final class Told(
      act: (Subscriber, Flow.Subscription) => Unit = (s, subscription) =>
        s.onSubscribe(subscription),
      onRequest: (Subscriber, Long) => Unit = (_, _) => (),
      onCancel: () => Unit = () => ()
  ) extends Flow.Publisher[Int]:
    val requests = ConcurrentLinkedQueue[Long]()
    val cancels = AtomicInteger()
    val subscriber = CompletableFuture[Subscriber]()
    def requested: List[Long] = requests.asScala.toList

    def subscribe(to: Subscriber): Unit =
      subscriber.complete(to): Unit
      act(to, subscriptionFor(to))

    def subscriptionFor(to: Subscriber): Flow.Subscription = new Flow.Subscription:
      def request(n: Long): Unit =
        requests.add(n): Unit
        onRequest(to, n)
      def cancel(): Unit =
        cancels.incrementAndGet(): Unit
        onCancel()

  /** Gives all that is requested inside of `request`, up to `count`. */
  private def synchronous(count: Int): Told =
    val next = AtomicInteger()
    Told(onRequest = (s, n) =>
      var left = n
      while left > 0 && next.get < count do
        left -= 1
        val value = next.incrementAndGet()
        s.onNext(value)
        if value == count then s.onComplete())

  for buffer <- List(1, 2, 3, 64) do
    test(s"buffer $buffer: all elements in order, of a publisher that signals inside of request"):
      val publisher = synchronous(10_000)
      assertEquals(
        Stream.fromPublisher(publisher, buffer).toList.runSync(),
        List.range(1, 10_001)
      )
      assertEquals(publisher.cancels.get, 0)
      assert(publisher.requested.forall(_ <= buffer), publisher.requested.toString)
      assert(publisher.requested.size <= 2 + 10_000 / (buffer / 2).max(1))

    test(s"buffer $buffer: all elements in order, of the JDK's SubmissionPublisher"):
      val publisher = SubmissionPublisher[Int]()
      val fiber = Stream.fromPublisher(publisher, buffer).toList.start.runSync()
      eventually("subscribed")(publisher.hasSubscribers)
      for i <- 1 to 5_000 do publisher.submit(i): Unit
      publisher.close()
      assertEquals(fiber.joinOrFail.runSync(), List.range(1, 5_001))

    test(s"buffer $buffer: all elements in order, of a Reactor publisher, and its error"):
      val numbers = Flux.range(1, 5_000).map(i => i.intValue)
      def of(flux: Flux[Int]) =
        Stream.fromPublisher(JdkFlowAdapter.publisherToFlowPublisher(flux), buffer)
      assertEquals(of(numbers).toList.runSync(), List.range(1, 5_001))
      val boom = Boom()
      assertEquals(
        seen(of(numbers.concatWith(Flux.error(boom)))).runSync().takeRight(2),
        List(5_000, boom)
      )

  test("a stream is subscribed anew each time it runs, and not before"):
    val subscribed = AtomicInteger()
    val flux = Flux.defer { () =>
      subscribed.incrementAndGet(): Unit
      Flux.just(1, 2)
    }
    val stream = Stream.fromPublisher(JdkFlowAdapter.publisherToFlowPublisher(flux))
    assertEquals(subscribed.get, 0)
    for _ <- 1 to 2 do assertEquals(stream.toList.runSync(), List(1, 2))
    assertEquals(subscribed.get, 2)

  test("a buffer is requested at first, then half of it each time that it is used up"):
    val publisher = synchronous(20)
    Stream.fromPublisher(publisher, 8).drain.runSync()
    assertEquals(publisher.requested, List[Long](8, 4, 4, 4))

  test("with buffer 1 the next element is requested when it is asked for"):
    val publisher = synchronous(3)
    val requestsAt = Stream
      .fromPublisher(publisher, 1)
      .map(i => (i, publisher.requested.size))
      .toList
      .runSync()
    assertEquals(requestsAt, List((1, 1), (2, 2), (3, 3)))

  test("take requests no more than it takes, and cancels once"):
    val publisher = synchronous(100)
    assertEquals(Stream.fromPublisher(publisher, 64).take(3).toList.runSync(), List(1, 2, 3))
    assertEquals(publisher.requested, List(3L))
    assertEquals(publisher.cancels.get, 1)

  test("a cancel while it waits cancels the subscription once, and signals after that are ignored"):
    val publisher = Told()
    val fiber = Stream.fromPublisher(publisher).drain.start.runSync()
    eventually("requested")(publisher.requested.nonEmpty)
    fiber.cancel.timeout(10.seconds).runSync()
    assertEquals(publisher.cancels.get, 1)
    val subscriber = publisher.subscriber.get
    subscriber.onNext(1)
    subscriber.onError(Boom())
    subscriber.onComplete()
    assertEquals(publisher.cancels.get, 1)

  test("a subscription that comes after the cancel is cancelled"):
    val publisher = Told(act = (_, _) => ())
    val fiber = Stream.fromPublisher(publisher).drain.start.runSync()
    val subscriber = publisher.subscriber.get
    eventually("waiting")(isWaiting(fiber))
    fiber.cancel.timeout(10.seconds).runSync()
    subscriber.onSubscribe(publisher.subscriptionFor(subscriber))
    assertEquals((publisher.cancels.get, publisher.requested), (1, Nil))

  test("an error downstream cancels the subscription"):
    val publisher = synchronous(100)
    val boom = Boom()
    val stream = Stream.fromPublisher(publisher, 4).evalMap(_ => Task.fail(boom))
    assertEquals(stream.drain.attempt.runSync(), Left(boom))
    assertEquals(publisher.cancels.get, 1)

  test("an error comes after the elements before it, and cancels nothing"):
    val boom = Boom()
    val publisher = Told(onRequest = { (s, _) =>
      s.onNext(1); s.onNext(2); s.onError(boom)
    })
    assertEquals(seen(Stream.fromPublisher(publisher, 4)).runSync(), List(1, 2, boom))
    assertEquals(publisher.cancels.get, 0)

  // ---- publishers that break rules ----

  private val noElement = null

  private def broken(name: String, rule: String, elements: Int*)(publisher: => Told): Unit =
    test(s"a publisher that $name fails the stream, after ${elements.size} elements: rule $rule"):
      val told = publisher
      seen(Stream.fromPublisher(told, 4)).runSync() match
        case before :+ (error: IllegalStateException) =>
          assertEquals(before, elements.toList)
          assert(error.getMessage.contains(s"rule $rule"), error.getMessage)
          assert(error.getMessage.contains("Told"), error.getMessage)
        case other => fail(other.toString)

  private def nullTo(signal: => Unit): Unit = intercept[NullPointerException](signal): Unit

  broken("signals null for an element", "2.13", 1):
    Told(onRequest = { (s, _) =>
      s.onNext(1)
      nullTo(s.asInstanceOf[Flow.Subscriber[Any]].onNext(noElement))
      s.onNext(2)
    })
  broken("signals null for an error", "2.13", 1):
    Told(onRequest = { (s, _) =>
      s.onNext(1); nullTo(s.onError(null))
    })
  broken("signals null for a subscription", "2.13")(
    Told(act = (s, _) => nullTo(s.onSubscribe(null)))
  )
  broken("signals more than is requested", "1.1", 1, 2, 3, 4)(
    Told(onRequest = (s, n) => for i <- 1 to n.toInt + 3 do s.onNext(i))
  )
  broken("signals an element first", "1.9")(Told(act = (s, _) => s.onNext(1)))
  broken("completes without a subscription", "1.9")(Told(act = (s, _) => s.onComplete()))
  broken("subscribes twice", "2.12")(
    Told(act = { (s, subscription) =>
      s.onSubscribe(subscription)
      s.onSubscribe(subscription)
    })
  )
  broken("signals an element after the end", "1.7", 1)(
    Told(onRequest = { (s, _) =>
      s.onNext(1); s.onComplete(); s.onNext(2)
    })
  )
  broken("signals an error after the end", "1.7", 1)(
    Told(onRequest = { (s, _) =>
      s.onNext(1); s.onComplete(); s.onError(Boom())
    })
  )
  broken("throws from subscribe", "1.9")(Told(act = (_, _) => throw Boom()))
  broken("throws from request", "3.16", 1)(
    Told(onRequest = { (s, _) =>
      s.onNext(1); throw Boom()
    })
  )

  test("an element after an error is suppressed under the error"):
    val boom = Boom()
    val publisher = Told(onRequest = { (s, _) =>
      s.onError(boom); s.onNext(1)
    })
    assertEquals(seen(Stream.fromPublisher(publisher)).runSync(), List(boom))

  test("a second onComplete does no harm"):
    val publisher = Told(onRequest = { (s, _) =>
      s.onNext(1); s.onComplete(); s.onComplete()
    })
    assertEquals(seen(Stream.fromPublisher(publisher)).runSync(), List(1))

  test("a cancel that throws is an error of the stream that stops asking"):
    val boom = Boom()
    val publisher = Told(onRequest = (s, _) => s.onNext(1), onCancel = () => throw boom)
    Stream.fromPublisher(publisher, 4).take(1).toList.attempt.runSync() match
      case Left(error: IllegalStateException) =>
        assert(error.getMessage.contains("rule 3.15"), error.getMessage)
        assertEquals(error.getCause, boom)
      case other => fail(other.toString)

  test("both subscriptions are cancelled of a publisher that subscribes twice"):
    val publisher = Told(act = { (s, subscription) =>
      s.onSubscribe(subscription)
      s.onSubscribe(subscription)
    })
    assert(Stream.fromPublisher(publisher).drain.attempt.runSync().isLeft)
    assertEquals(publisher.cancels.get, 2)

  test("a buffer below 1 is refused"):
    val error = intercept[IllegalArgumentException](Stream.fromPublisher(synchronous(1), 0))
    assert(error.getMessage.contains("the buffer was 0"), error.getMessage)

  test("elements that have come are taken in runs"):
    val pull = Stream.fromPublisher(synchronous(100), 100).open()
    val runs = fiber.DirectCode { fiber =>
      Pull.closing(pull, fiber) {
        assertEquals(pull.next(fiber), 1)
        List(pull.takeReady(64).nn.count, pull.takeReady(64).nn.count, pull.takeReady(64))
      }
    }
    assertEquals(runs.runSync(), List(64, 35, null))
