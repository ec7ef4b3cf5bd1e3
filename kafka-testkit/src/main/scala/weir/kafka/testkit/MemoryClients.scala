package weir.kafka.testkit

import java.util.Map as JMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.locks.LockSupport
import org.apache.kafka.clients.consumer.Consumer
import org.apache.kafka.clients.producer.Producer
import org.apache.kafka.common.serialization.Serializer
import scala.jdk.CollectionConverters.*
import weir.Task
import weir.kafka.consumer.{Clients, PollClock, PollThread}
import weir.testkit.TestRuntime

/** Clients of brokers in memory. A poll thread is a fiber of the runtime on which the stream runs,
  * so that a test runtime's clock is that of its waits.
  */
private[testkit] final class MemoryClients(cluster: MemoryCluster) extends Clients:
  def nanoTime: Long = cluster.clock.nanoTime
  def nowMillis: Long = cluster.clock.nowMillis

  def consumer(properties: JMap[String, AnyRef]): Consumer[Array[Byte], Array[Byte]] =
    MemoryConsumer(cluster, texts(properties))

  def producer(
      properties: JMap[String, AnyRef],
      key: Serializer[Any],
      value: Serializer[Any]
  ): Producer[Any, Any] = MemoryProducer(cluster, texts(properties), key, value)

  private def texts(properties: JMap[String, AnyRef]): Map[String, String] =
    properties.asScala.view.mapValues(_.toString).toMap

  /** On a thread of the runtime: others do not have its clock. */
  def blocking[A](code: => A): Task[A] = Task.delay(code)

  def start(name: String)(run: () => Unit): PollThread =
    val loop = MemoryClients.LoopFiber(run)
    Task.delay(loop.run()).toFuture(): Unit
    loop

private object MemoryClients:
  /** The time of the thread that asks: that of its test runtime, or the machine's. */
  object Clock extends PollClock:
    def nanoTime: Long = TestRuntime.nanoTime
    def nowMillis: Long = nanoTime / 1_000_000

  private final class LoopFiber(body: () => Unit) extends PollThread:
    private val ended = CountDownLatch(1)
    @volatile private var thread: Thread | Null = null

    def run(): Unit =
      thread = Thread.currentThread
      try body()
      finally ended.countDown()

    def unpark(): Unit = LockSupport.unpark(thread)
    def join(): Unit = ended.await()
