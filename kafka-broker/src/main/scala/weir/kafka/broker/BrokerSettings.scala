package weir.kafka.broker

/** The settings of a broker that is started.
  *
  * @param topics
  *   the numbers of partitions of topics that it has from the beginning, by their names
  * @param properties
  *   Kafka's own, such as `"group.share.record.lock.duration.ms" -> "5000"`. Without them a broker
  *   has all features of its version, does not create topics by itself, and lets groups begin at
  *   once
  * @param jvmFlags
  *   the options of its JVM
  * @param classPath
  *   the class path of its JVM; by default the jars in this artifact
  */
final case class BrokerSettings(
    topics: Map[String, Int] = Map.empty,
    properties: Map[String, String] = Map.empty,
    jvmFlags: Seq[String] = BrokerSettings.usualFlags,
    classPath: Option[String] = None
):
  topics.find((name, partitions) => name.exists(":,=".contains(_)) || partitions < 1).foreach {
    (name, partitions) =>
      throw IllegalArgumentException(
        s"BrokerSettings: the topic '$name' had $partitions partitions. It must have at least 1, " +
          "and a name that Kafka accepts."
      )
  }

object BrokerSettings:
  /** A broker with these starts fast, and takes little memory. */
  val usualFlags: Seq[String] =
    Seq("-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
