package weir.kafka

import java.util.HashMap
import org.apache.kafka.clients.producer.ProducerConfig
import org.apache.kafka.common.serialization.Serializer
import scala.concurrent.duration.{DurationInt, FiniteDuration}

/** How to write.
  *
  * @param brokers
  *   where to begin to look for the brokers: `host:port`, several with commas between
  * @param connectTimeout
  *   how long the brokers may take to say where a topic is, and to make room for a record
  * @param properties
  *   more of Kafka's own. By default it is idempotent and waits for all replicas (`acks=all`)
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
    "ProducerSettings: the property bootstrap.servers is not to be given as a property: use the " +
      "parameter brokers."
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
