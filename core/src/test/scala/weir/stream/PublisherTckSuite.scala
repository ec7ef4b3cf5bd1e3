package weir
package stream

import java.util.concurrent.Flow
import org.reactivestreams.tck.flow.FlowPublisherVerification

/** The kit's tests of publishers, for `stream.toPublisher` and `stream.toPublisherResource`. */
abstract class PublisherTckSuite(numbers: Long => Stream[Long]) extends TckSuite:
  private final class Verification extends FlowPublisherVerification[Long](environment):
    def createFlowPublisher(elements: Long): Flow.Publisher[Long] = publisher(numbers(elements))
    def createFailedFlowPublisher(): Flow.Publisher[Long] = publisher(Stream.fail(Boom()))

  def publisher(of: Stream[Long]): Flow.Publisher[Long] = of.toPublisher

  def kit: Class[?] = classOf[FlowPublisherVerification[?]]
  def verification(): AnyRef = Verification()
  registerAll()

class OneByOnePublisherTckSuite
    extends PublisherTckSuite(n => Stream.rangeLong(0, n).evalMap(Task.pure))

class CollectionPublisherTckSuite
    extends PublisherTckSuite(n =>
      if n < 1000 then Stream.fromIterable(List.range(0L, n)) else Stream.rangeLong(0, n)
    )

class ConcurrentPublisherTckSuite
    extends PublisherTckSuite(n => Stream.rangeLong(0, n).parEvalMap(4)(i => Task.cede.as(i)))

class ResourcePublisherTckSuite extends PublisherTckSuite(n => Stream.rangeLong(0, n)):
  override def publisher(of: Stream[Long]): Flow.Publisher[Long] =
    of.toPublisherResource[Long].allocated.runSync()._1 // the kit does not say when it is done
