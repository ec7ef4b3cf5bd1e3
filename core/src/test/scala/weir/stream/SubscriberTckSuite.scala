package weir
package stream

import java.util.concurrent.{CompletableFuture, Flow, TimeUnit}
import org.reactivestreams.tck.SubscriberWhiteboxVerification.{
  SubscriberPuppet,
  WhiteboxSubscriberProbe
}
import org.reactivestreams.tck.flow.FlowSubscriberBlackboxVerification
import org.reactivestreams.tck.flow.FlowSubscriberWhiteboxVerification

/** Returns the subscriber of a `Stream.fromPublisher` that runs, and the function that cancels
  * that.
  */
private def running[A](buffer: Int)(consume: Stream[A] => Task[Any])(using
    WeirRuntime
): (Flow.Subscriber[A], () => Unit) =
  val subscriber = CompletableFuture[Flow.Subscriber[A]]()
  val publisher: Flow.Publisher[A] =
    to => subscriber.complete(to.asInstanceOf[Flow.Subscriber[A]]): Unit
  val cancel = consume(Stream.fromPublisher(publisher, buffer)).runAsync(_ => ())
  (subscriber.get(10, TimeUnit.SECONDS), cancel)

/** The kit's tests of subscribers, for `Stream.fromPublisher`, seen from outside. */
class SubscriberBlackboxTckSuite extends TckSuite:
  private final class Verification extends FlowSubscriberBlackboxVerification[Int](environment):
    def createElement(element: Int): Int = element
    def createFlowSubscriber(): Flow.Subscriber[Int] = running[Int](buffer = 4)(_.drain)._1

  def kit: Class[?] = classOf[FlowSubscriberBlackboxVerification[?]]
  def verification(): AnyRef = Verification()
  registerAll()

/** The kit's tests of subscribers, for `Stream.fromPublisher`, whose consumer the kit directs. */
abstract class SubscriberWhiteboxTckSuite(buffer: Int) extends TckSuite:
  private final class Verification extends FlowSubscriberWhiteboxVerification[Integer](environment):
    def createElement(element: Int): Integer = element

    def createFlowSubscriber(probe: WhiteboxSubscriberProbe[Integer]): Flow.Subscriber[Integer] =
      val wanted = Semaphore(0).runSync()
      val (subscriber, stop) = running[Integer](buffer)(_.evalMap(_ => wanted.acquire).drain)
      new Flow.Subscriber[Integer]:
        private var isSubscribed = false
        def onSubscribe(subscription: Flow.Subscription): Unit =
          subscriber.onSubscribe(subscription)
          if !isSubscribed then
            isSubscribed = true
            probe.registerOnSubscribe(new SubscriberPuppet:
              def triggerRequest(elements: Long): Unit =
                wanted.release.replicate(elements.toInt).runSync(): Unit
              def signalCancel(): Unit = stop())
        def onNext(element: Integer): Unit =
          subscriber.onNext(element)
          probe.registerOnNext(element)
        def onError(error: Throwable): Unit =
          subscriber.onError(error)
          probe.registerOnError(error)
        def onComplete(): Unit =
          subscriber.onComplete()
          probe.registerOnComplete()

  def kit: Class[?] = classOf[FlowSubscriberWhiteboxVerification[?]]
  def verification(): AnyRef = Verification()
  registerAll()

class OneByOneSubscriberTckSuite extends SubscriberWhiteboxTckSuite(buffer = 1)
class BufferedSubscriberTckSuite extends SubscriberWhiteboxTckSuite(buffer = 16)
