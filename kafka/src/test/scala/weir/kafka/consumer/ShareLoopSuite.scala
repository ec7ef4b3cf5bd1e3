package weir.kafka.consumer

import java.time.Duration
import org.apache.kafka.clients.consumer.{ConsumerRecords, MockShareConsumer}
import org.apache.kafka.common.errors.CorruptRecordException

/** Tests the order of the thread's calls, with a stand-in for Kafka's client. */
class ShareLoopSuite extends munit.FunSuite:
  private type Client = MockShareConsumer[Array[Byte], Array[Byte]]

  private def running[A](client: Client)(body: FairQueue[SharedDelivery] => A): A =
    val queue = FairQueue[SharedDelivery]()
    val loop = ShareLoop(client, Set("topic"), queue, identity)
    loop.start("test")
    try body(queue)
    finally
      loop.stop()
      loop.join()

  test("a batch that Kafka's client rejects is an error"):
    val client = new Client:
      private var polls = 0
      override def poll(timeout: Duration): ConsumerRecords[Array[Byte], Array[Byte]] =
        polls += 1
        if polls == 1 then throw CorruptRecordException("bits have changed")
        if polls > 2 then throw IllegalStateException("it goes on after the error")
        ConsumerRecords.empty()
    running(client): queue =>
      val error = intercept[CorruptRecordException](queue.take())
      assertEquals(error.getMessage, "bits have changed")
