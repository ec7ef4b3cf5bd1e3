package weir
package stream

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, Flow}
import scala.jdk.CollectionConverters.*

/** A subscriber that keeps the signals that it gets, and requests as a test decides. */
final class Signals[A](
    atFirst: Flow.Subscription => Unit = (_: Flow.Subscription) => (),
    each: (Flow.Subscription, A) => Unit = (_: Flow.Subscription, _: A) => ()
) extends Flow.Subscriber[A]:
  private val queue = ConcurrentLinkedQueue[Any]()
  val ended = CountDownLatch(1)
  @volatile var subscription: Flow.Subscription = null.asInstanceOf[Flow.Subscription]

  /** Elements, then `Signals.Complete` or the error. */
  def all: List[Any] = queue.asScala.toList

  def onSubscribe(first: Flow.Subscription): Unit =
    subscription = first
    atFirst(first)
  def onNext(element: A): Unit =
    queue.add(element): Unit
    each(subscription, element)
  def onError(error: Throwable): Unit =
    queue.add(error): Unit
    ended.countDown()
  def onComplete(): Unit =
    queue.add(Signals.Complete): Unit
    ended.countDown()

object Signals:
  object Complete
  def unbounded[A](): Signals[A] = Signals[A](atFirst = _.request(Long.MaxValue))
