package weir
package stream

import java.util.concurrent.{ExecutorService, Flow}
import org.reactivestreams.tck.flow.IdentityFlowProcessorVerification

/** The kit's tests of processors, for `Stream.processor`. */
abstract class ProcessorTckSuite(pipe: Stream[Int] => Stream[Int]) extends TckSuite:
  private final class Verification
      extends IdentityFlowProcessorVerification[Int](environment, unreachableMillis, 16):
    def createElement(element: Int): Int = element
    def publisherExecutorService(): ExecutorService = TckSuite.executor
    override def maxSupportedSubscribers(): Long = 1

    def createIdentityFlowProcessor(buffer: Int): Flow.Processor[Int, Int] =
      Stream.processor(pipe, buffer)

    def createFailedFlowPublisher(): Flow.Publisher[Int] =
      val processor = createIdentityFlowProcessor(1)
      processor.subscribe(Signals[Int]())
      processor

  def kit: Class[?] = classOf[IdentityFlowProcessorVerification[?]]
  def verification(): AnyRef = Verification()

  /** The kit calls `maxSupportedSubscribers` to find out how many there may be. */
  override def skips: Map[String, String] =
    val one = "it has one subscriber. Rule 1.11: a publisher may support several"
    Map(
      "optional_spec111_" -> one,
      "required_mustRequestFromUpstreamForElementsThatHaveBeenRequestedLongAgo" -> one,
      "required_spec104_mustCallOnErrorOnAllItsSubscribers" -> one
    )
  registerAll()

class IdentityProcessorTckSuite extends ProcessorTckSuite(identity)
class ConcurrentProcessorTckSuite
    extends ProcessorTckSuite(_.parEvalMap(4)(i => Task.cede.as(i)).map(identity))
