package weir.kafka.consumer

import java.time.Duration
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, Semaphore, TimeUnit}
import java.util.{List as JList, Map as JMap, Optional, Set as JSet}
import org.apache.kafka.clients.consumer.{
  AcknowledgementCommitCallback,
  AcknowledgeType,
  ConsumerRecord,
  ConsumerRecords,
  MockShareConsumer
}
import org.apache.kafka.common.errors.{
  CorruptRecordException,
  GroupAuthorizationException,
  InvalidRecordStateException,
  WakeupException
}
import org.apache.kafka.common.{TopicIdPartition, TopicPartition, Uuid}
import scala.jdk.CollectionConverters.*

/** Tests the order of the thread's calls, with a stand-in for Kafka's client. */
class ShareLoopSuite extends munit.FunSuite:
  import AcknowledgeType.{ACCEPT, RENEW}
  import ShareLoopSuite.*

  private def running[A](client: Client, pollInterval: Duration = Duration.ofMinutes(5))(
      body: FairQueue[SharedDelivery] => A
  ): A =
    val queue = FairQueue[SharedDelivery]()
    val loop = ShareLoop(client, Set(topic), queue, identity, pollInterval)
    loop.start("test")
    try body(queue)
    finally
      loop.stop()
      loop.join()

  private def accept(delivery: SharedDelivery | Null): Unit = delivery.nn.settle(ACCEPT)

  test("a batch that Kafka's client rejects is an error"):
    val client = Client {
      case 1 => throw CorruptRecordException("bits have changed")
      case 2 => Nil
      case _ => throw IllegalStateException("it goes on after the error")
    }
    running(client): queue =>
      val error = intercept[CorruptRecordException](queue.take())
      assertEquals(error.getMessage, "bits have changed")

  test("one that is settled while it is renewed is acknowledged soon, if others are back before"):
    val renewed = CountDownLatch(1)
    // The leader of the partition 1 answers later.
    val client = Client {
      case 1 => List(0, 1)
      case 2 => renewed.countDown(); List(0)
      case 3 => List(0, 1)
      case _ => Nil
    }
    running(client): queue =>
      val List(_, other) = List.fill(2)(queue.take().nn): @unchecked
      renewed.await()
      accept(other)
      assert(client.awaits(1 -> ACCEPT, millis = 1500))

  test("one that is settled while it is renewed is acknowledged at a stop"):
    val renewed = CountDownLatch(1)
    val client = Client {
      case 1 => List(0)
      case 2 => renewed.await(); Nil
      case _ => List(0)
    }
    running(client): queue =>
      val delivery = queue.take()
      assert(client.awaits(0 -> RENEW, millis = 10_000))
      val stopping = Thread.ofVirtual().start { () =>
        while !client.isWoken do Thread.onSpinWait()
        accept(delivery)
        renewed.countDown()
      }
      assert(stopping.isAlive)
    assertEquals(client.told.asScala.toList, List(0 -> RENEW, 0 -> ACCEPT))

  test("what may have been fetched with the last batch is renewed at once"):
    val second = CountDownLatch(1)
    val client = Client {
      case 1 => List(0)
      case 2 => second.countDown(); List(1)
      case _ => Nil
    }
    running(client): queue =>
      val first = queue.take()
      Thread.sleep(client.lockMillis / 3 + 100) // the time that the first batch takes
      accept(first)
      second.await()
      assert(client.awaits(1 -> RENEW, millis = 1500))

  test("the client polls before it would leave the group, if the lock is long"):
    val client = Client {
      case 1 => List(0)
      case _ => Nil
    }
    running(client, pollInterval = Duration.ofMillis(200)): _ =>
      assert(client.awaits(0 -> RENEW, millis = 1500))

  test("one whose lock was lost is not handed out again while it is not settled"):
    val lost = System.nanoTime() + TimeUnit.SECONDS.toNanos(3)
    val again = CountDownLatch(1)
    lazy val client: Client = Client(
      {
        case 1 => List(0)
        case 2 =>
          client.refuse(0)
          Nil
        case _ if System.nanoTime() < lost || again.getCount == 0 => Nil
        case _ =>
          again.countDown()
          List(0)
      },
      lockMillis = 1500
    )
    running(client): queue =>
      val delivery = queue.take()
      again.await()
      accept(delivery)
      assert(client.awaits(0 -> ACCEPT, millis = 1500))
      queue.end()
      assertEquals(queue.take(), null)

  test("after an error, what is being renewed comes back and is acknowledged"):
    val client = Client {
      case 1 => List(0)
      case 2 => throw GroupAuthorizationException("group")
      case 3 => List(0)
      case _ => Nil
    }
    running(client): queue =>
      val delivery = queue.take()
      intercept[GroupAuthorizationException](queue.take())
      accept(delivery)
      assert(client.awaits(0 -> ACCEPT, millis = 10_000))

private object ShareLoopSuite:
  val topic = "topic"

  /** Kafka's mock of a client of share groups. A poll returns the first record of some partitions,
    * as its number says; one without records waits, until it is woken.
    */
  final class Client(answers: Int => Seq[Int], val lockMillis: Int = 6000)
      extends MockShareConsumer[Array[Byte], Array[Byte]]:
    val told = ConcurrentLinkedQueue[(Int, AcknowledgeType)]()
    private val woken = Semaphore(0)
    private var polls = 0
    private var callback = Option.empty[AcknowledgementCommitCallback]

    def isWoken: Boolean = woken.availablePermits > 0

    override def acquisitionLockTimeoutMs: Optional[Integer] = Optional.of(lockMillis)

    override def poll(timeout: Duration): ConsumerRecords[Array[Byte], Array[Byte]] =
      polls += 1
      val found = answers(polls)
      if found.isEmpty && woken.tryAcquire(timeout.toNanos, TimeUnit.NANOSECONDS) then
        woken.drainPermits()
        throw WakeupException()
      val records = found.map { partition =>
        val record = ConsumerRecord(topic, partition, 0L, Array(1.toByte), Array(2.toByte))
        TopicPartition(topic, partition) -> JList.of(record)
      }
      ConsumerRecords(records.toMap.asJava, JMap.of())

    override def wakeup(): Unit = woken.release()

    override def acknowledge(
        record: ConsumerRecord[Array[Byte], Array[Byte]],
        as: AcknowledgeType
    ): Unit = told.add(record.partition -> as): Unit

    override def setAcknowledgementCommitCallback(callback: AcknowledgementCommitCallback): Unit =
      this.callback = Some(callback)

    /** The broker takes no acknowledgement of it. */
    def refuse(partition: Int): Unit =
      val at = TopicIdPartition(Uuid.ONE_UUID, partition, topic)
      val offsets = JMap.of(at, JSet.of(java.lang.Long.valueOf(0)))
      callback.foreach(_.onComplete(offsets, InvalidRecordStateException("lost")))

    /** Returns true as soon as it was told so; false after that time. */
    def awaits(what: (Int, AcknowledgeType), millis: Long): Boolean =
      val end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis)
      while !told.contains(what) && System.nanoTime() < end do Thread.sleep(5)
      told.contains(what)
