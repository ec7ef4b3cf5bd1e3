package weir.kafka

import scala.concurrent.duration.*
import scala.util.Using

/** Runs one plan of `ChaosSuite`. Its arguments: the number of brokers, `Classic` or `Consumer`,
  * `keyed` or `exactly-once`, the length in seconds, and the seed, or none. It needs the system
  * properties that the build gives to the tests of this module.
  *
  * It writes the events as they come, and a line at the end, which begins with `passed` or
  * `failed`.
  */
object ChaosProgram:
  def main(arguments: Array[String]): Unit =
    val Array(brokers, protocol, what, seconds) = arguments.take(4): @unchecked
    val seed = arguments.lift(4).map(_.toLong).getOrElse(System.nanoTime() & 0xffffffffL)
    val plan = s"$brokers of brokers, $protocol, $what, $seconds s, seed $seed"
    val isPassed =
      try
        val time = seconds.toInt.seconds
        val found =
          checked(brokers.toInt, GroupProtocol.valueOf(protocol), what, time, seed, println)
        println(s"passed: $plan: $found")
        true
      catch
        case error: Throwable =>
          error.printStackTrace()
          println(s"failed: $plan: ${error.getMessage.linesIterator.next()}")
          false
    sys.exit(if isPassed then 0 else 1)

  /** Returns what was found, in a line. **Fails** if a record was lost, or the order of a key, or
    * if more was done twice than may be.
    */
  def checked(
      brokers: Int,
      protocol: GroupProtocol,
      what: String,
      time: FiniteDuration,
      seed: Long,
      tell: String => Unit = _ => ()
  ): String =
    Using.resource(ChaosCluster(brokers, Chaos.members)): cluster =>
      Using.resource(Chaos(cluster, brokers, protocol, what, seed, tell)): chaos =>
        try
          chaos.run(time)
          if what == "keyed" then checkDone(chaos) else checkResults(chaos)
        catch
          case error: Throwable =>
            throw AssertionError(s"${error.getMessage}\nseed $seed\n${chaos.told}", error)

  private def checkDone(chaos: Chaos): String =
    val done = chaos.workers.done
    checkAll(done.map(_.value).distinct, chaos.written)
    checkOrder(done.map(record => (record.key, record.value)))
    val twice = done.size - chaos.written
    val most = chaos.mostTwice
    check(twice <= most, s"$twice were done twice, of at most $most")
    val earliest = chaos.calmKills.map(earliestRepeated(_, done))
    val ofKills = earliest.flatten.maxOption.fold("nothing")(time => s"at most $time ms")
    s"${chaos.written} records; $twice twice, of at most $most; " +
      s"${earliest.size} kills of an undisturbed group repeated $ofKills; ${chaos.events} events"

  private def checkResults(chaos: Chaos): String =
    val results = chaos.results
    checkAll(results.map(_._2), chaos.written)
    checkOrder(results)
    s"${chaos.written} records, each once; ${chaos.events} events; " +
      s"${chaos.aborted} transactions that hung were aborted in their partitions"

  private def checkAll(values: Vector[Int], written: Int): Unit =
    val missing = (0 until written).toSet -- values
    check(missing.isEmpty, s"lost: ${missing.size} of $written, such as ${missing.take(10)}")
    check(values.size == written, s"${values.size} results of $written records")

  /** Records that were done again come later than the first time. */
  private def checkOrder(all: Vector[(String, Int)]): Unit =
    for (key, values) <- all.groupMap(_._1)(_._2) do
      val first = values.distinct
      val at = first.indices.find(n => n > 0 && first(n) < first(n - 1))
      check(at.isEmpty, s"of key $key, ${at.map(n => (first(n - 1), first(n)))} in that order")

  /** Returns the time in ms between the kill and the earliest record that was done before it, and
    * again after it. The member had committed all that it had done until then, but for what was
    * done within the last 100 ms.
    */
  private def earliestRepeated(kill: Chaos.Kill, done: Vector[Workers.Done]): Option[Long] =
    val again = done.filter(_.micros > kill.micros).map(_.value).toSet
    val since = kill.micros - Chaos.calm.toMicros
    val repeated =
      done
        .filter(record => record.worker == kill.worker && record.micros > since)
        .filter(record => again(record.value))
    val earliest = repeated.map(record => (kill.micros - record.micros) / 1000).maxOption
    check(
      earliest.forall(_ <= 100),
      s"the kill of worker ${kill.worker} repeated ${repeated.size} records of ${earliest.get} ms"
    )
    earliest

  private def check(condition: Boolean, message: => String): Unit =
    if !condition then throw AssertionError(message)
