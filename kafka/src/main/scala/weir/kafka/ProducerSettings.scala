package weir.kafka

import java.util.HashMap
import org.apache.kafka.clients.producer.ProducerConfig
import org.apache.kafka.common.serialization.Serializer
import scala.concurrent.duration.{DurationInt, FiniteDuration}

/** The settings of a producer.
  *
  * @param brokers
  *   the brokers to ask first: `host:port`, separated by commas
  * @param connectTimeout
  *   the time within which the brokers must say where a topic is, and the time within which there
  *   must be room for a record
  * @param properties
  *   further properties of Kafka's client. By default the producer is idempotent and waits for all
  *   replicas (`acks=all`)
  */
final case class ProducerSettings[K, V](
    brokers: String,
    key: Serializer[K],
    value: Serializer[V],
    connectTimeout: FiniteDuration = 8.seconds,
    properties: Map[String, String] = Map.empty
):
  require(
    !properties.contains(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG),
    "ProducerSettings: bootstrap.servers was set as a property. Use the parameter brokers."
  )

  private[kafka] def toKafka(transactionalId: Option[String]): HashMap[String, AnyRef] =
    val all = HashMap[String, AnyRef]()
    all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, connectTimeout.toMillis.toString)
    if transactionalId.nonEmpty then
      all.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, "10000"): Unit
    properties.foreach((name, value) => all.put(name, value))
    transactionalId.foreach(id => all.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, id))
    all.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers)
    all
