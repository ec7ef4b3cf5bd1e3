package weir.kafka

import java.time.Duration
import java.util.HashMap
import org.apache.kafka.clients.producer.ProducerConfig
import org.apache.kafka.common.serialization.Serializer
import scala.concurrent.duration.{DurationInt, FiniteDuration}

/** The settings of a producer.
  *
  * @param brokers
  *   the brokers to ask first: `host:port`, separated by commas
  * @param key
  *   makes the serializer of keys, for each producer anew. It is configured with the properties,
  *   and closed with the producer
  * @param value
  *   makes the serializer of values, in the same way
  * @param connectTimeout
  *   the time limit for the first information about a topic, and for each wait for room in the
  *   client's memory
  * @param properties
  *   further properties of Kafka's client, and of the serializers. By default the producer is
  *   idempotent and waits for all replicas (`acks=all`)
  */
final case class ProducerSettings[K, V](
    brokers: String,
    key: () => Serializer[K],
    value: () => Serializer[V],
    connectTimeout: FiniteDuration = 8.seconds,
    properties: Map[String, String] = Map.empty
):
  require(
    !properties.contains(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG),
    "ProducerSettings: bootstrap.servers was set as a property. Use the parameter brokers."
  )

  private[kafka] def transactionTimeout: Duration = Duration.ofMillis(
    properties
      .get(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG)
      .flatMap(_.toLongOption)
      .getOrElse(ProducerSettings.transactionMillis)
  )

  private[kafka] def toKafka(transactionalId: Option[String]): HashMap[String, AnyRef] =
    val all = HashMap[String, AnyRef]()
    all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, connectTimeout.toMillis.toString)
    if transactionalId.nonEmpty then
      all.put(
        ProducerConfig.TRANSACTION_TIMEOUT_CONFIG,
        ProducerSettings.transactionMillis.toString
      ): Unit
    properties.foreach((name, value) => all.put(name, value))
    transactionalId.foreach(id => all.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, id))
    all.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers)
    all

object ProducerSettings:
  private val transactionMillis = 10_000L
