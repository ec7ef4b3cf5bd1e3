package weir.kafka

import java.util.HashMap
import org.apache.kafka.clients.consumer.ConsumerConfig
import org.apache.kafka.common.serialization.Deserializer
import scala.concurrent.duration.{DurationInt, FiniteDuration}

/** The settings of a member of a share group.
  *
  * @param brokers
  *   the brokers to ask first: `host:port`, separated by commas
  * @param key
  *   makes the deserializer of keys, for each run of a stream anew. It is configured with the
  *   properties, used for one record at a time, and closed at the end of the run
  * @param value
  *   makes the deserializer of values, in the same way
  * @param batchRecords
  *   the number of records that one client of Kafka takes at a time. It takes the next ones when
  *   all of them are settled
  * @param clients
  *   the number of clients of Kafka, each of which is a member of the group. With several, a slow
  *   record holds up only the next batch of its own client
  * @param connectTimeout
  *   the time within which the brokers must confirm, at the start, that the topics exist
  * @param properties
  *   further properties of Kafka's client, such as those for TLS and SASL, and of the deserializers
  */
final case class ShareSettings[K, V](
    brokers: String,
    key: () => Deserializer[K],
    value: () => Deserializer[V],
    batchRecords: Int = 500,
    clients: Int = 1,
    connectTimeout: FiniteDuration = 8.seconds,
    properties: Map[String, String] = Map.empty
):
  ShareSettings.instead.find((name, _) => properties.contains(name)).foreach { (name, rule) =>
    throw IllegalArgumentException(
      s"ShareSettings: the property $name was ${properties(name)}. It must not be set as a " +
        s"property: $rule"
    )
  }
  require(
    batchRecords >= 1 && clients >= 1 && connectTimeout.toMillis >= 1,
    s"ShareSettings: batchRecords was $batchRecords, clients $clients and the connectTimeout " +
      s"$connectTimeout. They must be at least 1, 1 and 1 ms."
  )

  /** The longest time without a poll, after which Kafka's client leaves the group. */
  private[kafka] def pollIntervalMillis: Long =
    properties.get(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG).fold(300_000L)(_.toLong)

  private[kafka] def toKafka(group: String): HashMap[String, AnyRef] =
    val all = HashMap[String, AnyRef]()
    // Otherwise more records may be locked for a client than it takes, while their time runs.
    all.put(ConsumerConfig.SHARE_ACQUIRE_MODE_CONFIG, "record_limit")
    all.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false")
    properties.foreach((name, value) => all.put(name, value))
    all.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers)
    all.put(ConsumerConfig.GROUP_ID_CONFIG, group)
    all.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, batchRecords.toString)
    all.put(ConsumerConfig.SHARE_ACKNOWLEDGEMENT_MODE_CONFIG, "explicit")
    all

object ShareSettings:
  /** The properties that have a parameter, or that this decides. */
  private val instead: Map[String, String] = Map(
    ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG -> "use the parameter brokers.",
    ConsumerConfig.GROUP_ID_CONFIG -> "give the group to KafkaShareConsumer.records.",
    ConsumerConfig.MAX_POLL_RECORDS_CONFIG -> "use the parameter batchRecords.",
    ConsumerConfig.SHARE_ACKNOWLEDGEMENT_MODE_CONFIG -> "each record is settled by itself."
  )
