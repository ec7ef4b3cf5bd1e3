package weir.kafka.consumer

import java.util.Map as JMap
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.locks.LockSupport
import org.apache.kafka.clients.consumer.{Consumer, KafkaConsumer as ConsumerClient}
import org.apache.kafka.clients.producer.{KafkaProducer as ProducerClient, Producer}
import org.apache.kafka.common.serialization.{ByteArrayDeserializer, Serializer}
import weir.Task

/** Makes Kafka's clients, and has the clock and the thread of the poll threads that use them. The
  * test kit has clients of brokers in memory, with virtual time.
  */
private[kafka] trait Clients extends PollClock:
  def consumer(properties: JMap[String, AnyRef]): Consumer[Array[Byte], Array[Byte]]

  /** The producer closes its serializers. */
  def producer(
      properties: JMap[String, AnyRef],
      key: Serializer[Any],
      value: Serializer[Any]
  ): Producer[Any, Any]

  /** Runs code that waits for brokers, and starts poll threads. */
  def blocking[A](code: => A): Task[A]

  def start(name: String)(run: () => Unit): PollThread

/** The time of poll threads. */
private[kafka] trait PollClock:
  def nanoTime: Long

  /** By the clock on the wall, which goes on while a machine sleeps. */
  def nowMillis: Long

/** The thread of a `PollLoop`, which has started. */
private[kafka] trait PollThread:
  /** Ends a wait for records in flight. */
  def unpark(): Unit

  /** **Waits** until it has ended.
    */
  def join(): Unit

private[kafka] object Clients:
  /** Those of the test kit, by the address of their brokers. */
  private val inMemory = ConcurrentHashMap[String, Clients]()

  /** Makes `of` return these for the address, until the result is closed. */
  def register(address: String, clients: Clients): AutoCloseable =
    inMemory.put(address, clients): Unit
    () => inMemory.remove(address): Unit

  def of(brokers: String): Clients = inMemory.getOrDefault(brokers, Real)

  /** The clients of Kafka itself. */
  object Real extends Clients:
    def consumer(properties: JMap[String, AnyRef]): Consumer[Array[Byte], Array[Byte]] =
      ConsumerClient(properties, ByteArrayDeserializer(), ByteArrayDeserializer())

    def producer(
        properties: JMap[String, AnyRef],
        key: Serializer[Any],
        value: Serializer[Any]
    ): Producer[Any, Any] = ProducerClient(properties, key, value)

    def blocking[A](code: => A): Task[A] = Task.onPlatformThread(code)

    def start(name: String)(run: () => Unit): PollThread =
      val thread = Thread.ofPlatform().daemon().name(name).start(() => run())
      new PollThread:
        def unpark(): Unit = LockSupport.unpark(thread)
        def join(): Unit = thread.join()

    def nanoTime: Long = System.nanoTime()
    def nowMillis: Long = System.currentTimeMillis()
