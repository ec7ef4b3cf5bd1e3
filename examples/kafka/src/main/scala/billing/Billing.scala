package billing

import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.serialization.{StringDeserializer, StringSerializer}
import weir.{Stream, Task}
import weir.kafka.*

/** Reads orders, and writes a bill for each. */
final class Billing(brokers: String):
  private val reading =
    ConsumerSettings(brokers, () => StringDeserializer(), () => StringDeserializer())
  private val writing =
    ProducerSettings(brokers, () => StringSerializer(), () => StringSerializer())

  def run: Stream[Unit] = Stream.resource(KafkaProducer.resource(writing)).flatMap { bills =>
    KafkaConsumer(reading)
      .records(Set("orders"), "billing")
      .parEvalMapByKey(16) { order =>
        bills.send(ProducerRecord("bills", order.key, s"to pay: ${order.value}")).void
      }
  }

  def order(customer: String, what: String): Task[Unit] =
    KafkaProducer.resource(writing).use(_.send(ProducerRecord("orders", customer, what)).void)

  def bills: Stream[String] = KafkaConsumer(reading).records(Set("bills"), "reader").map(_.value)

object Billing:
  def main(arguments: Array[String]): Unit = Billing(arguments(0)).run.drain.runSync()
