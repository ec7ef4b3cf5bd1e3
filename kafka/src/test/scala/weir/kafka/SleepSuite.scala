package weir.kafka

import java.time.Instant
import java.util.concurrent.ConcurrentHashMap
import scala.concurrent.duration.*
import weir.Task

/** A member whose process stands still for longer than the group waits, and then goes on. */
class SleepSuite extends KafkaSuite:

  for protocol <- GroupProtocol.values do
    test(s"$protocol: a member that wakes begins nothing that another one has got meanwhile"):
      val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
      val count = 2000
      TestBroker.fill(topic, count, keys = 100)
      if protocol == GroupProtocol.Consumer then TestBroker.shortenSession(group)
      val workers = Workers("keyed", protocol, group, topic)
      val other = ConcurrentHashMap.newKeySet[Int]()
      val awake = KafkaConsumer(WorkerProgram.settings(TestBroker.address, protocol))
        .records(Set(topic), group)
        .parEvalMapByKey(8)(record => Task.delay(other.add(record.value.toInt): Unit))
        .drain
      try
        val sleeper = workers.start()
        eventually(s"it has done something. ${workers.failures}")(sleeper.done.size >= 50)
        sleeper.stop()
        val asleep = 3.seconds.fromNow // longer than what counts as a sleep
        val before = sleeper.done.size
        assert(before < count - 500, s"$before of $count were done before it slept")
        during(awake):
          eventually("the other one has done the rest"):
            TestBroker.committedCount(group, topic) == count
          Thread.sleep(math.max(0, asleep.timeLeft.toMillis)) // the sleep that is tested
          val woken = Instant.now()
          sleeper.wake()
          eventually("it is a member again")(TestBroker.members(group) == 2)
          val late = sleeper.done.map(_.value).drop(before)
          assert(
            late.size <= WorkerProgram.parallelism,
            s"${late.size} done since $woken, ${late.count(other.contains)} of them twice"
          )
      finally workers.close()
