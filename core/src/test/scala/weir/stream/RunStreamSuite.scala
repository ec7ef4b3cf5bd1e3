package weir
package stream

import java.util.concurrent.ConcurrentHashMap
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

/** On which thread `runSync` consumes a stream. */
class RunStreamSuite extends StreamTests:

  /** The threads on which the consumer has run, called from a platform thread. */
  private def consumers(change: Stream[Int] => Stream[Int]): Set[Thread] =
    val seen = ConcurrentHashMap.newKeySet[Thread]()
    val stream = change(Stream.emits(1 to 100))
    onPlatformThread {
      assertEquals(
        stream.evalForeach(_ => Task(seen.add(Thread.currentThread()): Unit)).runSync(),
        ()
      )
    }
    seen.asScala.toSet

  private def onPlatformThread(body: => Unit): Thread =
    var thrown: Throwable | Null = null
    val thread = Thread.ofPlatform().unstarted { () =>
      try body
      catch case error: Throwable => thrown = error
    }
    thread.start()
    thread.join()
    if thrown ne null then throw thrown
    thread

  test("a stream on one fiber runs on the thread that calls runSync"):
    assert(consumers(_.map(_ + 1)).forall(!_.isVirtual))
    assert(consumers(_.flatMap(Stream.emit(_))).forall(!_.isVirtual))

  test("a stream with fibers of its own is consumed by a worker"):
    val changes = List[Stream[Int] => Stream[Int]](
      _.prefetchN(4),
      _.prefetchStrict,
      _.parEvalMap(4)(Task.pure(_)),
      _.merge(Stream.empty),
      _.groupWithin(3, 1.second).map(_.head),
      _.broadcastThrough(identity),
      _.prefetchN(4).map(_ + 1).filter(_ > 3),
      _.prefetchN(4).zip(Stream.emits(1 to 100)).map(_._1),
      _.prefetchN(4).flatMap(Stream.emit(_)),
      _.prefetchN(4).handleErrorWith(_ => Stream.empty) ++ Stream.emit(1)
    )
    changes.foreach(change => assert(consumers(change).forall(_.isVirtual)))

  test("an interrupt of the thread that called runSync cancels the stream that a worker consumes"):
    @volatile var outcome: Option[Outcome[Unit]] = None
    onPlatformThread {
      val caller = Thread.currentThread()
      val endless = Stream.repeatEval(Task.unit).prefetchN(4).evalMap(_ => Task(caller.interrupt()))
      val task = endless.drain.guaranteeCase(how => Task { outcome = Some(how) })
      try
        task.runSync()
        fail("not cancelled")
      catch case _: InterruptedException => ()
    }: Unit
    assertEquals(outcome, Some(Outcome.Canceled))
