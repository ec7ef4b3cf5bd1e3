package weir.std

import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.testkit.TestRuntime
import weir.{Outcome, Stream, StreamTests, Task, intoTopic}

class TopicSuite extends StreamTests:

  private def subscribed[A](topic: Topic[A], count: Int): Task[Unit] =
    topic.subscribers.takeWhile(_ < count).drain

  test("each subscriber gets all values in the same order, from two publishers"):
    for _ <- 1 to 10 do
      val topic = Topic.unsafe[Int]
      val subscribers = Task.parTraverse(1 to 3)(_ => topic.subscribe(2).toList)
      val publish = (from: Int) => Task.foreach(from until from + 50)(i => topic.publish(i).void)
      val publishers = publish(0).both(publish(100)).andThen(topic.close)
      val (got, _) = subscribers.both(subscribed(topic, 3).andThen(publishers)).runSync()
      assertEquals(got.distinct.size, 1)
      assertEquals(got.head.sorted, ((0 until 50) ++ (100 until 150)).toList)

  test("a value that nobody subscribes to is gone; what is published after the close is refused"):
    val topic = Topic.unsafe[Int]
    assertEquals(topic.publish(1).runSync(), true)
    assertEquals(topic.close.runSync(), true)
    assertEquals(topic.close.runSync(), false)
    assertEquals(topic.publish(2).runSync(), false)
    assertEquals(topic.subscribe(1).toList.runSync(), Nil)

  test("publish waits for the slowest subscriber, and no longer once that has left"):
    val topic = Topic.unsafe[Int]
    val runtime = TestRuntime(mayLeak = true)
    val slow = runtime.start(topic.subscribe(2).evalMap(_ => Task.never).drain)
    runtime.awaitQuiet()
    val published = AtomicInteger()
    val publisher =
      runtime.start(Task.foreach(1 to 5)(i => topic.publish(i).map(_ => published.set(i))))
    runtime.awaitQuiet()
    assertEquals(published.get, 3)
    runtime.run(slow.fiber.cancel)
    runtime.awaitQuiet()
    assertEquals(published.get, 5)
    assert(publisher.outcome.nonEmpty)
    assertEquals(runtime.run(topic.subscriberCount), 0)
    runtime.close()

  test("close: what was published comes first, and a publisher that waits is told"):
    val topic = Topic.unsafe[Int]
    val all = topic
      .subscription(2)
      .use(values =>
        for
          _ <- topic.publish(1)
          _ <- topic.publish(2)
          waiting <- topic.publish(3).start
          _ <- Task.cede
          _ <- Task.sleep(1.second)
          _ <- topic.close
          told <- waiting.join
          got <- values.toList
        yield (told, got)
      )
    assertEquals(TestRuntime.run(all), (Outcome.Succeeded(false), List(1, 2)))

  test("a publisher that is cancelled while it waits lets the next one go"):
    val topic = Topic.unsafe[Int]
    val all = topic
      .subscription(1)
      .use(values =>
        for
          _ <- topic.publish(1)
          waiting <- topic.publish(2).start
          _ <- Task.sleep(1.second)
          _ <- waiting.cancel
          next <- topic.publish(3).start
          got <- values.take(2).toList
          _ <- next.join
        yield got
      )
    assertEquals(TestRuntime.run(all), List(1, 3))

  test("a subscriber that ends early, and one that fails, have left"):
    val topic = Topic.unsafe[Int]
    val boom = Boom()
    val publish = Task.foreach(1 to 10)(i => topic.publish(i).void)
    val short = topic.subscribe(1).take(1).toList
    val failing = topic.subscribe(1).evalMap(_ => Task.fail(boom)).drain.attempt
    val ((got, failed), _) =
      short.both(failing).both(subscribed(topic, 2).andThen(publish)).runSync()
    assertEquals((got, failed), (List(1), Left(boom)))
    assertEquals(topic.subscriberCount.runSync(), 0)

  test("a subscription that is released, or run again, fails: only a close of the topic ends it"):
    val topic = Topic.unsafe[Int]
    val outlives =
      topic.subscription(4).use(values => topic.publish(1).andThen(values.toList.start))
    assert(outlives.flatMap(_.join).runSync().isInstanceOf[Outcome.Failed[?]])
    val twice = topic.subscription(4).use { values =>
      topic.publish(1) >> values.take(1).toList >> values.toList.attempt
    }
    twice.runSync() match
      case Left(error: IllegalStateException) =>
        assert(error.getMessage.contains("the subscription is over"), error.getMessage)
      case other => fail(other.toString)

  test("a bound below 1 is refused"):
    intercept[IllegalArgumentException](Topic.unsafe[Int].subscription(0)): Unit

  private val boom = Boom()

  /** The result of a subscriber of the topic that `publisher` gets. */
  private def seenOf(publisher: Topic[Int] => Task[Any]): List[Int | Throwable] =
    val topic = Topic.unsafe[Int]
    val subscriber = topic.subscription(4).use { values =>
      publisher(topic).attempt.start.flatMap(fiber => seen(values).flatMap(fiber.join.as(_)))
    }
    TestRuntime.run(subscriber)

  test("intoTopic: subscribers see the end of the stream, and its error"):
    val source = Stream(1, 2, 3)
    assertEquals(seenOf(source.intoTopic), List(1, 2, 3))
    assertEquals(seenOf((source ++ Stream.fail(boom)).intoTopic), List(1, 2, 3, boom))
    assertEquals(seenOf(source.evalTap(_ => Task.cede).intoTopic), List(1, 2, 3))

  test("intoTopic: true once all is published, at each run; false if the topic was closed before"):
    val publish = Topic[Int].flatMap(topic => Stream(1, 2).intoTopic(topic))
    for _ <- 1 to 2 do assertEquals(publish.runSync(), true)
    val released = AtomicInteger()
    val source = Stream.constant(1).onFinalize(Task(released.incrementAndGet()).void)
    val closed = Topic[Int].flatMap(topic => topic.close >> source.intoTopic(topic))
    assertEquals((closed.runSync(), released.get), (false, 1))

  test("intoTopic: a publisher that is cancelled, at any time, is no end for its subscribers"):
    for wait <- List[Task[Any]](Task.unit, Task.sleep(1.second), Task.never) do
      val topic = Topic.unsafe[Int]
      val all = topic.subscription(2).use { values =>
        for
          // Waits for the source, or for room in the channel of the subscriber.
          fiber <- Stream
            .iterate(1)(_ + 1)
            .evalTap(i => Task.when(i > 2)(wait))
            .intoTopic(topic)
            .start
          _ <- Task.sleep(2500.millis)
          _ <- fiber.cancel
          got <- seen(values)
        yield got
      }
      TestRuntime.run(all) match
        case List(1, 2, _: CancellationException) => ()
        case other => fail(s"$other")

  test("closeWithError: what was published, then the error, also for who subscribes later"):
    val topic = Topic.unsafe[Int]
    val all = topic.subscription(2).use { values =>
      for
        _ <- topic.publish(1)
        first <- topic.closeWithError(boom)
        second <- topic.closeWithError(Boom())
        third <- topic.close
        got <- seen(values)
        late <- seen(topic.subscribe(1))
        open <- topic.publish(2)
      yield (first, second, third, got, late, open)
    }
    assertEquals(all.runSync(), (true, false, false, List(1, boom), List(boom), false))

  test("the end is the topic's alone: a subscription that is released is no end for who reads it"):
    val topic = Topic.unsafe[Int]
    val committed = AtomicInteger()
    val all =
      for
        reader <- topic.subscription(2).use { values =>
          val commit = Stream.exec(Task(committed.incrementAndGet()))
          topic.publish(1) >> (values ++ commit).drain.attempt.start
            .flatTap(_ => Task.sleep(1.second))
        }
        ended <- reader.joinOrFail
      yield ended
    assert(TestRuntime.run(all).left.exists(_.isInstanceOf[IllegalStateException]))
    assertEquals(committed.get, 0)

  test("the end is the topic's alone: what one subscriber does is no end for the others"):
    for leaves <- List[Stream[Int] => Task[Any]](
        _.take(1).drain,
        _.evalMap(_ => Task.fail(boom)).drain.attempt,
        _.drain.timeout(1.second).attempt
      )
    do
      val topic = Topic.unsafe[Int]
      val all = topic.subscription(4).use { values =>
        for
          _ <- leaves(topic.subscribe(4)).both(
            subscribed(topic, 2) >> topic.publish(1) >> Task.sleep(2.seconds)
          )
          _ <- topic.publish(2)
          _ <- topic.close
          got <- seen(values)
        yield got
      }
      assertEquals(TestRuntime.run(all), List(1, 2))

  test("a stream of a subscription that is run again fails, unless the topic has ended"):
    val topic = Topic.unsafe[Int]
    val twice = topic
      .subscription(2)
      .use(values =>
        topic.publish(1) >> values.take(1).toList.flatMap(got => seen(values).map((got, _)))
      )
    twice.runSync() match
      case (List(1), List(_: IllegalStateException)) => ()
      case other => fail(s"$other")
    val ended = topic.subscription(2).use(values => topic.close >> seen(values).both(seen(values)))
    assertEquals(ended.runSync(), (Nil, Nil))

  test("one source for subscribers that come and go: each gets what comes while it is there"):
    val all = Topic[Int].flatMap { topic =>
      val source = Stream.fixedRate(1.second).zipWithIndex.map(_._2.toInt).take(6)
      def guest(after: FiniteDuration, count: Int) =
        Task.sleep(after) >> topic.subscribe(8).take(count).toList
      Task.parZip(source.intoTopic(topic), guest(0.seconds, 2), guest(2500.millis, 9))
    }
    assertEquals(TestRuntime.run(all), (true, List(0, 1), List(2, 3, 4, 5)))

  test("a bound below 1 is refused in the name of the method that was called"):
    val topic = Topic.unsafe[Int]
    def refused(call: => Any) = intercept[IllegalArgumentException](call).getMessage
    assert(refused(topic.subscribe(0)).contains("Topic.subscribe: the bound was 0"))
    assert(refused(topic.subscription(0)).contains("Topic.subscription: the bound was 0"))
