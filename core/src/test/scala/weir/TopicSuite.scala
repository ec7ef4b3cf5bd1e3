package weir

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

class TopicSuite extends WeirSuite:

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
        assert(error.getMessage.contains("has left"), error.getMessage)
      case other => fail(other.toString)

  test("a bound below 1 is refused"):
    intercept[IllegalArgumentException](Topic.unsafe[Int].subscription(0)): Unit
