package weir
package stream

import java.util.concurrent.Flow
import org.reactivestreams.tck.flow.FlowPublisherVerification

/** The kit's tests of publishers, for `stream.toPublisher`. */
abstract class PublisherTckSuite(numbers: Long => Stream[Long]) extends TckSuite:
  private final class Verification extends FlowPublisherVerification[Long](environment):
    def createFlowPublisher(elements: Long): Flow.Publisher[Long] = numbers(elements).toPublisher
    def createFailedFlowPublisher(): Flow.Publisher[Long] = Stream.fail(Boom()).toPublisher

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
