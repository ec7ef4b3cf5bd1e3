package weir.kafka

import java.time.Duration as JDuration
import java.util.concurrent.atomic.{AtomicReference, LongAdder}
import java.util.concurrent.{ExecutionException, FutureTask, TimeUnit, TimeoutException}
import org.apache.kafka.clients.producer.{Callback, Producer, ProducerRecord, RecordMetadata}
import weir.kafka.consumer.{AsRead, Clients}
import weir.{Resource, Stream, Task}

/** Writes records to topics. Kafka's client batches records that are sent shortly after each other.
  * So let many fibers send, or use a stream with many records in flight (`sendEach`).
  *
  * {{{
  * val settings =
  *   ProducerSettings("localhost:9092", () => StringSerializer(), () => StringSerializer())
  * KafkaProducer.resource(settings).use(_.send(ProducerRecord("orders", "alice", "3 apples")))
  * }}}
  */
final class KafkaProducer[K, V] private (client: Producer[Any, Any], brokers: String):
  private val (begun, ended) = (LongAdder(), LongAdder())

  /** Writes the record, and returns its partition and offset.
    *
    * **Waits** until the broker has acknowledged it, and while the client's memory is full
    * (`buffer.memory`). **Cancelled** while it waits: the record may still be written. **Fails**
    * with a [[KafkaFailure]] if the topic does not exist, or if no broker answers within
    * `ProducerSettings.connectTimeout`; with the client's error otherwise. **Order**: the sends of
    * one fiber, to one partition, in their order.
    *
    * {{{
    * producer.send(ProducerRecord("orders", "alice", "3 apples")).map(_.offset)
    * }}}
    */
  def send(record: ProducerRecord[K, V]): Task[RecordMetadata] =
    Task.defer(begin((), record).acknowledged((_, metadata) => metadata))

  /** Emits the same elements, each once its record has been written, with up to `window` records in
    * flight.
    *
    * **Fails** as `send`, with the first error, after the elements before it; later records may
    * still be written. **Order**: that of the elements; the records of a partition are written in
    * this order too.
    *
    * {{{
    * orders.through(producer.sendEach(1000)(o => ProducerRecord("orders", o.id, o.text)))
    * }}}
    */
  def sendEach[A](window: Int)(record: A => ProducerRecord[K, V]): Stream[A] => Stream[A] =
    require(window >= 1, s"KafkaProducer.sendEach: the window was $window. It must be at least 1.")
    elements =>
      elements
        .map(a => begin(a, record(a)))
        .prefetchN(window)
        .evalMap(_.acknowledged((a, _) => a))

  /** Returns a sink that writes records and emits their partitions and offsets, as `sendEach` does.
    */
  def sendAll(window: Int = 1000): Stream[ProducerRecord[K, V]] => Stream[RecordMetadata] =
    require(window >= 1, s"KafkaProducer.sendAll: the window was $window. It must be at least 1.")
    records =>
      records
        .map(record => begin((), record))
        .prefetchN(window)
        .evalMap(_.acknowledged((_, metadata) => metadata))

  /** Writes a record with the bytes that it was read with, whatever the serializers. */
  private[kafka] def sendAsRead(record: ProducerRecord[AsRead, AsRead]): Task[RecordMetadata] =
    Task.defer(begin((), record).acknowledged((_, metadata) => metadata))

  /** Blocks if the client has no room, or does not know the topic yet. */
  private def begin[A](of: A, record: ProducerRecord[?, ?]): KafkaProducer.Pending[A] =
    val pending = KafkaProducer.Pending(of, failure(record.topic), ended)
    try client.send(record.asInstanceOf[ProducerRecord[Any, Any]], pending): Unit
    catch case error: Exception => throw failure(record.topic)(error)
    begun.increment()
    pending

  /** Sends the records that are left. Without one it waits for nothing. */
  private def close(): Unit =
    val isIdle = begun.sum == ended.sum
    KafkaProducer.close(client, if isIdle then JDuration.ZERO else KafkaProducer.closeTime)

  private def failure(topic: String): Throwable => Throwable =
    KafkaFailure.explain(brokers, "this producer", Set(topic))

object KafkaProducer:
  private val closeTime = JDuration.ofSeconds(10)

  /** The client's own threads may need a moment to end. */
  private val graceMillis = 500L

  /** Opens a producer. Its release sends the records that are left. **Fails** with a
    * [[KafkaFailure]] if the settings cannot be used.
    */
  def resource[K, V](settings: ProducerSettings[K, V]): Resource[KafkaProducer[K, V]] =
    Resource
      .make(Task.delay(new KafkaProducer[K, V](open(settings, None), settings.brokers)))(producer =>
        Task.delay(producer.close())
      )

  private[kafka] def open(
      settings: ProducerSettings[?, ?],
      transactionalId: Option[String]
  ): Producer[Any, Any] =
    val properties = settings.toKafka(transactionalId)
    val (key, value) = (AsRead.Or(settings.key()), AsRead.Or(settings.value()))
    try
      key.configure(properties, true)
      value.configure(properties, false)
      Clients.of(settings.brokers).producer(properties, key, value) // which closes them
    catch
      case error: Exception =>
        val failure = KafkaFailure.explain(settings.brokers, "this producer", Set.empty)(error)
        for serializer <- List(key, value) do
          try serializer.close()
          catch case later: Exception => failure.addSuppressed(later)
        throw failure

  /** Closes the client within `time`, or not much later. It does so on another thread, since the
    * client itself waits up to `request.timeout.ms` for a broker that has taken its connection and
    * is silent.
    */
  private[kafka] def close(client: Producer[Any, Any], time: JDuration): Unit =
    val closing = FutureTask(() => client.close(time), ())
    Thread.ofPlatform().daemon().name("weir-kafka-close").start(closing): Unit
    try closing.get(time.toMillis + graceMillis, TimeUnit.MILLISECONDS)
    catch
      case _: TimeoutException => ()
      case error: ExecutionException => throw error.getCause

  /** A record in flight. The client's thread completes it; one fiber waits for that.
    *
    * {{{
    * state:  null --waits--> the waiter --ended, which resumes it
    *           +--ended--> Ended
    * }}}
    */
  private final class Pending[A](of: A, failure: Throwable => Throwable, count: LongAdder)
      extends Callback:
    private val state = AtomicReference[AnyRef | Null](null)

    def onCompletion(metadata: RecordMetadata, error: Exception | Null): Unit =
      count.increment()
      val ended = Ended(if error == null then Right(metadata) else Left(failure(error)))
      state.getAndSet(ended) match
        case waiter: Waiter => waiter.resume(ended.result)
        case _ => ()

    def acknowledged[B](use: (A, RecordMetadata) => B): Task[B] =
      state.get match
        case Ended(Right(metadata)) => Task.pure(use(of, metadata))
        case _ =>
          Task
            .async[RecordMetadata] { resume =>
              if !state.compareAndSet(null, Waiter(resume)) then
                state.get match
                  case Ended(result) => resume(result)
                  case _ => resume(Left(IllegalStateException("It is waited for already.")))
            }
            .map(use(of, _))

  private final case class Waiter(resume: Either[Throwable, RecordMetadata] => Unit)
  private final case class Ended(result: Either[Throwable, RecordMetadata])
