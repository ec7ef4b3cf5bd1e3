package weir.kafka

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.sql.Connection
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import scala.concurrent.duration.*
import weir.{Schedule, Task}

/** The example of docs/kafka.md: offsets in Postgres, in the transaction that has the effects of
  * the records. It needs a Postgres, which takes some seconds to start.
  */
class KeptOffsetsSuite extends KafkaSuite:
  private lazy val postgres =
    EmbeddedPostgres.builder().setServerConfig("fsync", "off").start()

  override def afterAll(): Unit = postgres.close()

  private def transaction[A](use: Connection => A): Task[A] = Task.uninterruptible {
    val connection = postgres.getPostgresDatabase.getConnection
    try
      connection.setAutoCommit(false)
      val result = use(connection)
      connection.commit() // an error before closes the connection, which rolls back
      result
    finally connection.close()
  }

  private def execute(connection: Connection, sql: String, values: Any*): Int =
    val statement = connection.prepareStatement(sql)
    for (value, index) <- values.zipWithIndex do statement.setObject(index + 1, value)
    statement.executeUpdate()

  /** Returns where to begin: the offsets that the last transactions have written. */
  private def load(partitions: Set[TopicPartition]): Task[Map[TopicPartition, Position]] =
    transaction { connection =>
      val rows = connection
        .createStatement()
        .executeQuery("SELECT topic, part, next FROM offsets")
      val found = Iterator
        .continually(rows)
        .takeWhile(_.next())
        .map(row => TopicPartition(row.getString(1), row.getInt(2)) -> row.getLong(3))
        .toMap
      partitions
        .map(partition => partition -> Position.Offset(found.getOrElse(partition, 0L)))
        .toMap
    }

  /** Writes the effects and the offset, unless another owner of the partition has gone further. */
  private def store(batch: Vector[CommittableRecord[String, String]]): Task[Unit] =
    transaction { connection =>
      val (first, last) = (batch.head, batch.last)
      execute(
        connection,
        "INSERT INTO offsets VALUES (?, ?, 0) ON CONFLICT DO NOTHING",
        first.topic,
        first.partition
      )
      val isOurs = execute(
        connection,
        "UPDATE offsets SET next = ? WHERE topic = ? AND part = ? AND next <= ?",
        last.offset + 1,
        first.topic,
        first.partition,
        first.offset
      )
      if isOurs == 0 then throw IllegalStateException("Another member has these records.")
      for record <- batch do
        execute(connection, "INSERT INTO effects VALUES (?)", record.value.toInt)
    }

  test("offsets in the transaction of the effects: each record has one effect, after any cancel"):
    val (topic, group) = (TestBroker.topic(4), TestBroker.name("group"))
    val count = 2000
    val setUp = transaction { connection =>
      execute(
        connection,
        "CREATE TABLE offsets (topic text, part int, next bigint, PRIMARY KEY (topic, part))"
      )
      execute(connection, "CREATE TABLE effects (value int)")
    }
    setUp.runSync(): Unit
    TestBroker.write(
      (0 until count).map(n => ProducerRecord(topic, n % 4, s"k$n", n.toString))
    )
    val settings = WorkerProgram
      .settings(TestBroker.address, GroupProtocol.Consumer)
      .copy(startAt = StartAt.kept(load))
    val member = KafkaConsumer(settings)
      .partitions(Set(topic), group)
      .map(_.records.evalMapBatched(20, 5.millis)(store))
      .parJoinUnbounded
      .drain
      .retry(Schedule.spaced(10.millis)) // another member has the records: begin anew
    def effects: Vector[Int] = transaction { connection =>
      val rows = connection.createStatement().executeQuery("SELECT value FROM effects")
      Iterator.continually(rows).takeWhile(_.next()).map(_.getInt(1)).toVector
    }.runSync()
    for reached <- List(200, 600, 1000) do
      during(member)(eventually(s"$reached effects")(effects.size >= reached))
    during(member):
      during(member)(eventually("two members are there")(TestBroker.members(group) == 2))
      eventually("all effects")(effects.size >= count)
    assertEquals(effects.sorted, (0 until count).toVector)
