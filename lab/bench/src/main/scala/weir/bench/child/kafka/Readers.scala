package weir.bench.child.kafka

import io.confluent.parallelconsumer.{ParallelConsumerOptions, ParallelStreamProcessor}
import java.time.Duration
import java.util.HashMap
import java.util.concurrent.{Executors, Future as JFuture}
import org.apache.kafka.clients.consumer.{ConsumerRecord, KafkaConsumer as Client}
import org.apache.kafka.common.serialization.ByteArrayDeserializer
import scala.collection.mutable
import scala.concurrent.duration.DurationInt
import scala.jdk.CollectionConverters.*
import weir.Task
import weir.kafka.{ConsumerSettings, KafkaConsumer, parEvalMapByKey}

/** Weir's consumer; with no work, each record is marked as done. */
object WeirReader:
  def apply(reading: Reading, group: String, clock: Clock): Unit =
    val settings = ConsumerSettings(
      reading.brokers,
      () => ByteArrayDeserializer(),
      () => ByteArrayDeserializer(),
      connectTimeout = 1.minute // the machine may be busy
    )
    val records = KafkaConsumer(settings).records(Set(reading.topic), group)
    if reading.workMillis == 0 then
      var (count, bytes) = (0L, 0L)
      records
        .evalMap { record =>
          if count == 0 then clock.begin()
          count += 1
          bytes += record.value.length
          if count == reading.records then clock.ended(count, bytes)
          record.done
        }
        .take(reading.records)
        .drain
        .runSync()
    else
      records
        .parEvalMapByKey(reading.parallelism) { record =>
          Task.delay {
            clock.begin()
            reading.work()
            clock.done(record.value.length)
          }
        }
        .take(reading.records)
        .drain
        .runSync()

/** Kafka's own client in a loop, with its own automatic commits. With work: a pool for the keys of
  * a poll, and a commit once all of them are done.
  */
object PlainReader:
  def apply(reading: Reading, group: String, clock: Clock): Unit =
    val properties = HashMap[String, AnyRef](reading.properties(group))
    if reading.workMillis > 0 then properties.put("enable.auto.commit", "false"): Unit
    val client = Client[Array[Byte], Array[Byte]](
      properties,
      ByteArrayDeserializer(),
      ByteArrayDeserializer()
    )
    try
      client.subscribe(java.util.List.of(reading.topic))
      if reading.workMillis == 0 then loop(client, reading, clock)
      else pooled(client, reading, clock)
    finally client.close()

  private val pollTime = Duration.ofMillis(100)

  private def loop(
      client: Client[Array[Byte], Array[Byte]],
      reading: Reading,
      clock: Clock
  ): Unit =
    var (count, bytes) = (0L, 0L)
    while count < reading.records do
      val records = client.poll(pollTime)
      if !records.isEmpty then clock.begin()
      records.forEach { record =>
        count += 1
        bytes += record.value.length
      }
    clock.ended(count, bytes)

  private def pooled(
      client: Client[Array[Byte], Array[Byte]],
      reading: Reading,
      clock: Clock
  ): Unit =
    val pool = Executors.newFixedThreadPool(reading.parallelism)
    try
      while !clock.isOver do
        val records = client.poll(pollTime)
        if !records.isEmpty then
          clock.begin()
          val keys = mutable.HashMap[String, mutable.ArrayBuffer[ConsumerRecord[?, Array[Byte]]]]()
          records.forEach { record =>
            keys.getOrElseUpdate(String(record.key), mutable.ArrayBuffer()).addOne(record): Unit
          }
          val calls: Seq[JFuture[?]] = keys.values.toSeq.map { ofKey =>
            val ofThem: Runnable = () =>
              ofKey.foreach { record =>
                reading.work()
                clock.done(record.value.length)
              }
            pool.submit(ofThem)
          }
          calls.foreach(_.get())
          client.commitSync()
    finally pool.shutdown()

/** Confluent's Parallel Consumer, ordered by key, as its README has it. */
object ParallelConsumerReader:
  def apply(reading: Reading, group: String, clock: Clock): Unit =
    val properties = HashMap[String, AnyRef](reading.properties(group))
    properties.put("enable.auto.commit", "false")
    val client = Client[Array[Byte], Array[Byte]](
      properties,
      ByteArrayDeserializer(),
      ByteArrayDeserializer()
    )
    val options = ParallelConsumerOptions
      .builder[Array[Byte], Array[Byte]]()
      .ordering(ParallelConsumerOptions.ProcessingOrder.KEY)
      .maxConcurrency(reading.parallelism)
      .consumer(client)
      .build()
    val processor = ParallelStreamProcessor.createEosStreamProcessor(options)
    try
      processor.subscribe(List(reading.topic).asJava)
      processor.poll { context =>
        clock.begin()
        if reading.workMillis > 0 then reading.work()
        clock.done(context.value.length)
      }
      clock.await()
    finally processor.closeDontDrainFirst()
