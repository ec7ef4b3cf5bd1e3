package weir.kafka

import scala.concurrent.duration.*

/** Members and brokers are stopped, killed and cut off at random for a while, and partitions are
  * added. Of each record it is known then which member has done it, and when.
  *
  * The plan depends on the seed alone (`-Dweir.kafka.seed`); `-Dweir.chaos.seconds` is its length.
  * `ChaosProgram` runs one of these without the test framework.
  */
class ChaosSuite extends KafkaSuite:
  private val time = java.lang.Long.getLong("weir.chaos.seconds", 600L).longValue.seconds
  private val seed = Tier.seed("weir.kafka.seed")
  override def munitTimeout: Duration = time + 15.minutes

  if Tier.isLong then
    for
      brokers <- List(1, 3)
      protocol <- GroupProtocol.values
      what <- List("keyed", "exactly-once")
    do
      test(s"$protocol, $what, brokers: $brokers. Nothing is lost, and keys are in order"):
        println(ChaosProgram.checked(brokers, protocol, what, time, seed))
