package weir.kafka.consumer

import org.apache.kafka.common.{Metric, MetricName}
import scala.jdk.CollectionConverters.*
import weir.Task

/** The poll thread of a member, from when its stream begins to run. */
private[kafka] final class MemberLoop(group: String):
  // under this lock
  private var hasBegun = false
  private var hasToLeave = false
  private var loop: PollLoop | Null = null

  /** Called before a poll thread is started. **Fails** if there was one. */
  def begin(): Unit = synchronized {
    if hasBegun then
      throw IllegalStateException(
        s"GroupMember: streams of a member of the group '$group' were run twice. A member reads " +
          "once. Make another one with KafkaConsumer.member."
      )
    hasBegun = true
  }

  def started(loop: PollLoop): Unit = synchronized {
    this.loop = loop
    if hasToLeave then loop.leave()
  }

  def leave(): Unit = synchronized {
    hasToLeave = true
    if loop != null then loop.nn.leave()
  }

  private def current: PollLoop | Null = synchronized(loop)

  def metrics: Map[MetricName, Metric] =
    val running = current
    if running == null then Map.empty else running.metrics.asScala.toMap

  /** Lets the poll thread make the call, and returns its value; that of `absent` if there is no
    * poll thread.
    */
  def ask[A](absent: => A)(call: PartitionRequests => A): Task[A] = Task.defer {
    val running = current
    if running == null then Task.delay(absent) else running.ask(absent)(call)
  }
