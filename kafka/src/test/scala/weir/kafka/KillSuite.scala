package weir.kafka

import java.util.SplittableRandom
import scala.concurrent.duration.*

/** Checks the broker after members of a group were killed at random. */
class KillSuite extends KafkaSuite:
  private val seed = Tier.seed("weir.kafka.seed")
  private val count = Tier(1500, 20_000)
  private val keys = 40
  private val kills = Tier(1, 20)

  private def killAtRandom(workers: Workers, isOver: => Boolean): Unit =
    val random = SplittableRandom(seed)
    var (one, other) = (workers.start(), workers.start())
    for _ <- 1 to kills do
      eventually(s"the one to kill has done something. ${workers.failures}"):
        one.hasDone || isOver
      // Not a wait for something: a moment anywhere in the run is the point.
      Thread.sleep(random.nextLong(400))
      one.kill()
      one = other
      other = workers.start()
    eventually(s"all is done. ${workers.failures}", Tier(120, 600).seconds)(isOver)

  private def ofEachKey[A](all: Vector[A])(key: A => String, value: A => Int): Unit =
    for (name, values) <- all.groupMap(key)(value) do
      // Records that were done again come later than the first time.
      val first = values.distinct
      assertEquals(first, first.sorted, s"$name, seed $seed")

  for protocol <- GroupProtocol.values if protocol == GroupProtocol.Classic || Tier.isLong do
    test(s"$protocol: members are killed: none is lost, keys in order, few are done twice"):
      val (topic, group) = (TestBroker.topic(4), TestBroker.name("group"))
      TestBroker.fill(topic, count, keys)
      val workers = Workers("keyed", protocol, group, topic)
      try
        killAtRandom(workers, TestBroker.committedCount(group, topic) == count)
        val done = workers.done
        assertEquals(done.map(_.value).distinct.sorted, (0 until count).toVector, s"seed $seed")
        ofEachKey(done)(_.key, _.value)
        val twice = done.size - count
        // Of each of the 4 partitions: those that were done and not committed, and those that ran.
        val most = kills * (4 * WorkerProgram.uncommittedLimit + WorkerProgram.parallelism)
        assert(twice <= most, s"$twice done twice, of at most $most, seed $seed")
      finally workers.close()

  for protocol <- GroupProtocol.values if protocol == GroupProtocol.Consumer || Tier.isLong do
    test(s"$protocol: members are killed: with transactions each result is there exactly once"):
      val (topic, group) = (TestBroker.topic(4), TestBroker.name("group"))
      val results = TestBroker.topic(2)
      TestBroker.fill(topic, count, keys)
      val workers = Workers("exactly-once", protocol, group, topic, results)
      try
        killAtRandom(workers, TestBroker.committedCount(group, topic) == count)
        val written = TestBroker.readAll(results)
        assertEquals(written.map(_._2.toInt).sorted, (0 until count).toVector, s"seed $seed")
        for (key, values) <- written.groupMap(_._1)(_._2.toInt) do
          assertEquals(values, values.sorted, s"$key, seed $seed")
      finally workers.close()
