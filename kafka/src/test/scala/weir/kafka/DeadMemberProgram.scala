package weir.kafka

import java.nio.file.Path
import java.time.Duration
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicBoolean
import org.apache.kafka.clients.consumer.{KafkaConsumer as Client, OffsetAndMetadata}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.GroupIdNotFoundException
import org.apache.kafka.common.serialization.StringDeserializer
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Using

/** Shows by Kafka's clients alone that a broker which was killed may list a dead member for ever,
  * with the group protocol of KIP-848. Kafka 4.4.0.
  *
  * By the metadata that it finds, a broker that starts again is still the leader of
  * `__consumer_offsets`. It is so until the session of its former life is over, and once more when
  * it has been registered. So it loads the groups, drops them, and loads them again. The first load
  * ends early if it sees that the broker is no leader. It looks for that once for each
  * `offsets.load.buffer.size`, 5 MB. If it does not see it, and ends after the second was ordered,
  * `CoordinatorRuntime` takes its end for that of the second: it lets the sessions of all members
  * begin, and has loaded none yet. A living member gets a session by its next heartbeat. One that
  * has died meanwhile gets none, so it stays, and its partitions stay with it.
  *
  * A living member that asks too early fails with a `GroupIdNotFoundException`. If it then joins
  * anew, records are written that contradict those that are being loaded. Then the broker answers
  * nobody of all these groups, not even after another restart.
  *
  * Its arguments: the number of rounds, the number of offsets that are committed before (the more,
  * the longer a load takes), and `offsets.load.buffer.size`. It needs the system properties that
  * the build gives to the tests of this module. It writes the members after each round, and ends
  * with the first in which the dead one is listed for two minutes, or nobody is.
  */
object DeadMemberProgram:
  private val (topic, filler, dead) = ("records", "filler", "dead")

  def main(arguments: Array[String]): Unit = arguments match
    case Array("member", address, group) => poll(address, group, dead, AtomicBoolean(true))
    case Array(rounds, offsets, loadBytes) =>
      Using.resource(ChaosCluster(1, 0, loadBytes.toInt)): cluster =>
        cluster.topic(topic, 6)
        cluster.topic(filler, 50)
        commit(cluster, offsets.toInt)
        (1 to rounds.toInt).find(n => isKept(cluster, s"group-$n")) match
          case Some(round) => println(s"wrong in round $round")
          case None => println(s"right in $rounds rounds")
      sys.exit()

  private def commit(cluster: ChaosCluster, count: Int): Unit =
    val each = (0 until 50).map(TopicPartition(filler, _) -> OffsetAndMetadata(0)).toMap.asJava
    for _ <- 0 until count / 1000 do
      val calls = Vector.fill(20)(cluster.admin.alterConsumerGroupOffsets(filler, each).all)
      calls.foreach(_.get)

  /** Returns true if the member is listed two minutes after the broker has come back. */
  private def isKept(cluster: ChaosCluster, group: String): Boolean =
    val goesOn = AtomicBoolean(true)
    val living = (1 to 2).map(n =>
      Thread.ofPlatform().start(() => poll(cluster.address, group, s"living-$n", goesOn))
    )
    val victim = member(cluster.address, group)
    while !cluster.membersOf(group).exists(_.size == 3) do Thread.sleep(100)
    Thread.sleep(2000) // they share the partitions
    victim.destroyForcibly().waitFor(): Unit
    Thread.sleep(ThreadLocalRandom.current.nextInt(100, 2500))
    cluster.kill(0, ThreadLocalRandom.current.nextInt(2500).millis)
    val isKept = !isRemoved(cluster, group, 2.minutes)
    println(s"$group: ${cluster.membersOf(group).fold("no answer")(_.mkString(", "))}")
    if isKept then
      cluster.restart()
      val mended = isRemoved(cluster, group, 1.minute)
      println(s"$group, after another restart: ${if mended then "mended" else "not mended"}")
    goesOn.set(false)
    living.foreach(_.join())
    isKept

  private def isRemoved(cluster: ChaosCluster, group: String, limit: FiniteDuration): Boolean =
    val deadline = limit.fromNow
    def isOver =
      cluster.membersOf(group).exists(listed => listed.nonEmpty && !listed.contains(dead))
    while !isOver && deadline.hasTimeLeft() do Thread.sleep(200)
    isOver

  private def poll(address: String, group: String, name: String, goesOn: AtomicBoolean): Unit =
    val properties = Map[String, AnyRef](
      "bootstrap.servers" -> address,
      "group.id" -> group,
      "group.protocol" -> "consumer",
      "client.id" -> name
    ).asJava
    while goesOn.get do
      try
        Using.resource(Client(properties, StringDeserializer(), StringDeserializer())): client =>
          client.subscribe(java.util.List.of(topic))
          while goesOn.get do client.poll(Duration.ofMillis(100)): Unit
      catch case error: GroupIdNotFoundException => println(s"$name: $error")

  private def member(address: String, group: String): Process =
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    val program = getClass.getName.stripSuffix("$")
    val classes = sys.props("java.class.path")
    ProcessBuilder(java, "-Xmx64m", "-cp", classes, program, "member", address, group)
      .inheritIO()
      .start()
