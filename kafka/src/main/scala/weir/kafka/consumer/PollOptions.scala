package weir.kafka.consumer

import java.time.Duration
import org.apache.kafka.clients.consumer.Consumer
import org.apache.kafka.common.TopicPartition
import weir.Task
import weir.kafka.{AssignmentChange, KafkaFailure, StartAt}

/** The settings of a poll thread.
  *
  * @param group
  *   empty for none
  * @param fetchBytes
  *   the number of bytes that the client fetches of a partition at a time
  * @param pollTime
  *   the time for which a poll waits for records
  * @param revokeDeadline
  *   the time for which a revoke waits for the records in flight and for the commit after them
  * @param commitTime
  *   the longest time for a commit that streams wait for, and the shortest limit for one that a
  *   revoke waits for
  * @param callbackReadTime
  *   the time for which a new assignment waits for its committed offset; after that, the loop asks
  *   for it beside the polls
  * @param readTime
  *   the longest time for such a request
  * @param sleepTime
  *   see `SignsOfLife`
  * @param reopen
  *   makes another client, with the same properties
  * @param joinTime
  *   the time after which that joins a group that the brokers have forgotten. A broker that loads
  *   its groups may say so by mistake, and a member that joins then would do harm: see
  *   `DeadMemberProgram`, in the tests
  * @param clients
  *   has the clock and the thread
  */
private[kafka] final case class PollOptions(
    subscription: Subscription,
    group: String,
    startAt: StartAt,
    onAssignmentChange: AssignmentChange => Task[Any],
    bufferRecords: Int,
    bufferBytes: Int,
    fetchBytes: Int,
    commits: Boolean,
    commitInterval: Duration,
    uncommittedLimit: Int,
    metadataLimitBytes: Int,
    revokeDeadline: Duration,
    sleepTime: Duration,
    explain: Throwable => Throwable,
    notAssigned: Set[TopicPartition] => KafkaFailure,
    reopen: () => Consumer[Array[Byte], Array[Byte]],
    joinTime: Duration = Duration.ofSeconds(5),
    clients: Clients = Clients.Real
):
  def pollTime: Duration =
    val most = Duration.ofMillis(100)
    if commits && commitInterval.compareTo(most) < 0 then commitInterval else most

  val commitTime: Duration = Duration.ofSeconds(3)
  val callbackReadTime: Duration = Duration.ofSeconds(1)
  val readTime: Duration = Duration.ofSeconds(10)
