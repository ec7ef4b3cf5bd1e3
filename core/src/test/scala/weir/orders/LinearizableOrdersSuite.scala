package weir.orders

import munit.Location
import weir.testkit.{Linearizable, Operation, Spec}
import weir.std.Topic
import weir.{Channel, Queue, Semaphore, Stream, Task}

/** The operations of queues, channels, semaphores and topics behave as if they came one after the
  * other.
  */
class LinearizableOrdersSuite extends OrdersSuite:

  /** A test that checks random programs of `operations`, each access of the classes `inside` being
    * a step.
    */
  private def linearizable[A, S](name: String)(inside: String*)(spec: Spec[A, S])(
      operations: Operation[A, S]*
  )(using Location): Unit =
    test(s"$name is linearizable"):
      val each = limitsInside(inside)
      val report = Linearizable.check(spec, each.copy(time = each.time * 4))(operations*)
      OrdersSuite.tell(name, report)

  private val inQueue = Seq("weir.Queue", "weir.sync.Guarded")
  private val inChannel = Seq("weir.Channel", "weir.sync.Channel", "weir.sync.Send", "weir.sync.Re")

  private type Values = Vector[Int]

  private def takes(spec: Spec[Queue[Int], Values]) = Seq(
    spec.operation("tryTake")(_.tryTake)(s => (s.drop(1), s.headOption)),
    spec.waiting("take")(_.take)(s => s.headOption.map(n => (s.tail, n))),
    spec.operation("size")(_.size)(s => (s, s.size))
  )

  for capacity <- List(1, 2) do
    val spec = Spec(Queue.bounded[Int](capacity), Vector.empty[Int])
    def offer(value: Int) = spec.waiting(s"offer $value")(_.offer(value))(s =>
      Option.when(s.size < capacity)((s :+ value, ()))
    )
    val tryOffer = spec.operation("tryOffer 3")(_.tryOffer(3))(s =>
      if s.size < capacity then (s :+ 3, true) else (s, false)
    )
    linearizable(s"a queue of $capacity")(inQueue*)(spec)(
      (takes(spec) ++ Seq(offer(1), offer(2), tryOffer))*
    )

  private val sliding = Spec(Queue.sliding[Int](2), Vector.empty[Int])
  linearizable("a sliding queue of 2")(inQueue*)(sliding)(
    (takes(sliding) ++ List(1, 2).map(n =>
      sliding.operation(s"offer $n")(_.offer(n))(s => ((s :+ n).takeRight(2), ()))
    ))*
  )

  private val dropping = Spec(Queue.dropping[Int](1), Vector.empty[Int])
  linearizable("a dropping queue of 1")(inQueue*)(dropping)(
    (takes(dropping) ++ List(1, 2).map(n =>
      dropping.operation(s"offer $n")(_.offer(n))(s => (if s.isEmpty then Vector(n) else s, ()))
    ))*
  )

  /** The values of a channel, and whether it is open. */
  private final case class Sent(values: Values, isOpen: Boolean)

  for capacity <- List(1, 2) do
    val spec = Spec(Channel.bounded[Int](capacity), Sent(Vector.empty, isOpen = true))
    def send(value: Int) = spec.waiting(s"send $value")(_.sendOrClosed(value))(s =>
      if !s.isOpen then Some((s, Channel.Closed.Done))
      else Option.when(s.values.size < capacity)((s.copy(values = s.values :+ value), ()))
    )
    linearizable(s"a channel of $capacity")(inChannel*)(spec)(
      send(1),
      send(2),
      spec.operation("trySend 3")(_.trySend(3).attempt.map(_.toOption))(s =>
        if !s.isOpen then (s, None)
        else if s.values.size < capacity then (s.copy(values = s.values :+ 3), Some(true))
        else (s, Some(false))
      ),
      spec.waiting("receive")(_.receiveOrClosed)(s =>
        if s.values.nonEmpty then Some((s.copy(values = s.values.tail), s.values.head))
        else Option.unless(s.isOpen)((s, Channel.Closed.Done))
      ),
      spec.operation("tryReceive")(_.tryReceive.attempt.map(_.toOption))(s =>
        if s.values.isEmpty && !s.isOpen then (s, None)
        else (s.copy(values = s.values.drop(1)), Some(s.values.headOption))
      ),
      spec.operation("close")(_.close)(s => (s.copy(isOpen = false), s.isOpen)),
      spec.operation("size")(_.size)(s => (s, s.values.size))
    )

  private val permits = Spec(Semaphore(1), 1)
  linearizable("a semaphore of 1")("weir.Semaphore", "weir.sync.")(permits)(
    permits.waiting("acquire")(_.acquire)(n => Option.when(n > 0)((n - 1, ()))),
    permits.operation("tryAcquire")(_.tryAcquire)(n => if n > 0 then (n - 1, true) else (n, false)),
    permits.operation("tryAcquire 2")(_.tryAcquireN(2))(n =>
      if n > 1 then (n - 2, true) else (n, false)
    ),
    permits.operation("release")(_.release)(n => (n + 1, ())),
    permits.operation("release 2")(_.releaseN(2))(n => (n + 2, ())),
    permits.operation("available")(_.available)(n => (n, n.toLong))
  )

  // ---- topics ----

  /** A topic, and the next value of each of two subscribers. */
  private final class TwoSubscribers(
      val topic: Topic[Int],
      val a: Task[Option[Int]],
      val b: Task[Option[Int]]
  )

  /** The next value of a stream, again and again. What is not released is left to the collector. */
  private def nextOf(values: Stream[Int]): Task[Task[Option[Int]]] =
    values.toPull.allocated.map((next, _) => next)

  private val twoSubscribers =
    for
      topic <- Topic[Int]
      a <- topic.subscription(8).allocated.flatMap((values, _) => nextOf(values))
      b <- topic.subscription(8).allocated.flatMap((values, _) => nextOf(values))
    yield TwoSubscribers(topic, a, b)

  private val ordered = Spec(twoSubscribers, (Vector.empty[Int], Vector.empty[Int]))
  linearizable("a topic with two subscribers")("weir.std.Topic", "weir.std.Signal")(ordered)(
    ordered.operation("publish 1")(_.topic.publish(1))((a, b) => ((a :+ 1, b :+ 1), true)),
    ordered.operation("publish 2")(_.topic.publish(2))((a, b) => ((a :+ 2, b :+ 2), true)),
    ordered.waiting("next of a")(_.a)((a, b) => a.headOption.map(n => ((a.tail, b), Some(n)))),
    ordered.waiting("next of b")(_.b)((a, b) => b.headOption.map(n => ((a, b.tail), Some(n))))
  )

  /** A topic, the next value of its subscriber, and how that leaves. */
  private final class OneSubscriber(
      val topic: Topic[Int],
      val next: Task[Option[Int]],
      val leave: Task[Unit]
  )

  private val oneSubscriber =
    for
      topic <- Topic[Int]
      subscription <- topic.subscription(1).allocated
      (values, leave) = subscription
      next <- nextOf(values)
    yield OneSubscriber(topic, next, leave)

  /** The values that wait for the subscriber, its presence, and the state of the topic. */
  private final case class Subscribed(values: Values, isThere: Boolean, isOpen: Boolean)

  private val closed = Spec(oneSubscriber, Subscribed(Vector.empty, isThere = true, isOpen = true))
  linearizable("a topic whose subscriber leaves, and that is closed")(
    "weir.std.Topic",
    "weir.std.Signal"
  )(
    closed
  )(
    closed.waiting("publish 1")(_.topic.publish(1).void)(s =>
      if !s.isThere then Some((s, ()))
      else Option.when(s.values.isEmpty)((s.copy(values = Vector(1)), ()))
    ),
    // The stream of one that has left fails; if the topic is closed as it leaves, it may end.
    closed.waiting("next")(_.next.attempt.map(_.toOption.flatten))(s =>
      if s.values.nonEmpty then Some((s.copy(values = s.values.tail), s.values.headOption))
      else Option.unless(s.isThere)((s, None))
    ),
    closed.operation("close")(_.topic.close)(s =>
      (s.copy(isThere = false, isOpen = false), s.isOpen)
    ),
    closed.operation("leave")(_.leave)(s => (s.copy(isThere = false), ())),
    closed.operation("count")(_.topic.subscriberCount)(s => (s, if s.isThere then 1 else 0))
  )
