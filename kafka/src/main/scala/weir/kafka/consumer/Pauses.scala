package weir.kafka.consumer

import java.util.{List as JList, Map as JMap}
import org.apache.kafka.clients.consumer.Consumer
import org.apache.kafka.common.TopicPartition

/** Pauses the partitions of which enough waits for the streams, and resumes them. Only the poll
  * thread calls it.
  *
  * @param owned
  *   the assignments of the poll thread
  */
private[kafka] final class Pauses(
    consumer: => Consumer[?, ?],
    options: PollOptions,
    owned: JMap[TopicPartition, Assignment]
):
  /** `isPaused` is written before the number of buffered records is read again; the reader updates
    * that number before it reads `isPaused`. So either the poll thread sees that there is room, or
    * the reader wakes it.
    */
  def update(): Unit =
    val bytes = mostBytesOfEach
    owned.forEach { (partition, assignment) =>
      val most = assignment.mostBuffered(options.bufferRecords, bytes)
      if !assignment.isPaused && assignment.buffered >= most then
        assignment.pauseUntil(most / 2)
        consumer.pause(JList.of(partition))
      if assignment.isPaused && assignment.hasRoom then
        assignment.resume()
        if !assignment.isHeld then consumer.resume(JList.of(partition))
    }

  /** Returns the number of bytes of each partition that may wait here. Of its share of
    * `bufferBytes`, one fetch is for what the client has, and one for what a poll adds once that
    * number is reached.
    */
  private def mostBytesOfEach: Int =
    var all = 0L
    owned.values.forEach(all += _.bufferedBytes)
    val fetched = options.fetchBytes.toLong * owned.size
    if all >= math.max(options.bufferBytes / 2, options.bufferBytes - fetched) then 0
    else
      val share = options.bufferBytes / math.max(1, owned.size)
      math.max(share / 2, share - 2 * options.fetchBytes)
