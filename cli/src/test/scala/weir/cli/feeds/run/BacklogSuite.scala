package weir.cli.feeds.run

import java.util.concurrent.{CountDownLatch, LinkedBlockingQueue}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.{Outcome, Task}
import weir.cli.feeds.input.FeedUrl
import weir.cli.feeds.store.DueFeed

class BacklogSuite extends FunSuite:
  private def feed(id: Int, host: String = "a", expected: Long = 0) =
    val url = FeedUrl.parse(s"http://$host.example/$id").toOption.get
    DueFeed(id.toLong, url, None, None, 0, 0, expected)

  private def backlog(perHost: Int, feeds: DueFeed*) =
    val made = Backlog(_ => perHost, capacity = 100, sources = 1, seed = 1)
    made.offer(0, feeds.toVector)
    made.close()
    made

  private def ids(turns: Option[Turn]*) = turns.toList.map(_.map(_.feed.id.toInt))

  test("the longest expected feed goes first"):
    val waiting = backlog(9, feed(1, expected = 5), feed(2, expected = 50), feed(3, expected = 20))
    assertEquals(ids(waiting.take(), waiting.take(), waiting.take()), List(2, 3, 1).map(Some(_)))

  test("feeds that take about as long go in another order in each process"):
    val feeds = Vector.tabulate(20)(i => feed(i, expected = 64 + i))
    val orders =
      for seed <- 1 to 3 yield
        val waiting = Backlog(_ => 99, capacity = 100, sources = 1, seed)
        waiting.offer(0, feeds)
        ids(List.fill(20)(waiting.take())*)
    assertEquals(orders.distinct.size, 3)

  test("a host has no more under way than its limit, and others go on meanwhile"):
    val waiting = backlog(1, feed(1), feed(2), feed(3, "b"))
    val first = waiting.take()
    val second = waiting.take()
    assertEquals(ids(first, second).flatten.toSet.contains(3), true)
    waiting.finish(first.get)
    waiting.finish(second.get)
    val third = waiting.take()
    assertEquals(third.map(_.feed.url.host), Some("a.example"))
    waiting.finish(third.get)
    assertEquals(waiting.take(), None)

  test("a feed that is tried again holds no turn of its host while it waits"):
    val waiting = backlog(1, feed(1, expected = 2), feed(2, expected = 1))
    val first = waiting.take().get
    waiting.retry(first.afterTry(1.milli), 1.hour)
    assertEquals(waiting.backingOff, 1)
    assertEquals(ids(waiting.take()), List(Some(2)))

  test("a feed that is tried again goes before those that never were"):
    val waiting = backlog(1, feed(1), feed(2, expected = 99))
    val first = waiting.take().get
    assertEquals(first.feed.id, 2L)
    waiting.retry(first.afterTry(1.milli), Duration.Zero)
    assertEquals(ids(waiting.take()), List(Some(2)))

  test("a host whose turns others have is held, and its feeds come in the same order later"):
    val waiting =
      backlog(2, feed(1, expected = 20), feed(2, expected = 4), feed(3, "b"), feed(4, expected = 9))
    val first = waiting.take().get
    assertEquals(first.feed.id, 1L)
    waiting.hold(first, 20.millis)
    val other = waiting.take().get
    assertEquals(other.feed.id, 3L)
    waiting.finish(other)
    val rest = List.fill(2)(waiting.take())
    assertEquals(ids(rest*), List(Some(1), Some(4)))
    rest.flatten.foreach(waiting.finish)
    val last = waiting.take()
    assertEquals(ids(last), List(Some(2)))
    waiting.finish(last.get)
    assertEquals(waiting.take(), None)

  test("nothing is handed out before every source has delivered"):
    val waiting = Backlog(_ => 9, capacity = 100, sources = 2, seed = 1)
    waiting.offer(0, Vector(feed(1, expected = 1)))
    val taken = LinkedBlockingQueue[Option[Turn]]()
    Thread.ofVirtual().start(() => taken.put(waiting.take())): Unit
    waiting.offer(0, Vector.empty)
    assertEquals(taken.size, 0)
    waiting.offer(1, Vector(feed(2, expected = 2)))
    assertEquals(ids(taken.take()), List(Some(2)))

  test("the end comes when nothing waits, nothing is under way and no more is offered"):
    val waiting = backlog(9, feed(1))
    val turn = waiting.take().get
    val taken = LinkedBlockingQueue[Option[Turn]]()
    Thread.ofVirtual().start(() => taken.put(waiting.take())): Unit
    waiting.finish(turn)
    assertEquals(taken.take(), None)

  test("a source waits while the backlog is full"):
    val waiting = Backlog(_ => 9, capacity = 1, sources = 1, seed = 1)
    waiting.offer(0, Vector(feed(1)))
    val offered = CountDownLatch(1)
    Thread.ofVirtual().start { () =>
      waiting.offer(0, Vector(feed(2)))
      offered.countDown()
    }: Unit
    assertEquals(ids(waiting.take()), List(Some(1)))
    offered.await()
    assertEquals(ids(waiting.take()), List(Some(2)))

  test("a task that waits for a feed can be cancelled"):
    val waiting = Backlog(_ => 9, capacity = 1, sources = 1, seed = 1)
    val ended = LinkedBlockingQueue[Outcome[Option[Turn]]]()
    val cancel = Task.delay(waiting.take()).runAsync(ended.put)
    cancel()
    assertEquals(ended.take(), Outcome.Canceled)
