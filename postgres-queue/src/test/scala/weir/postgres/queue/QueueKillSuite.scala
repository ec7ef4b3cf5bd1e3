package weir.postgres.queue

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Random

import weir.{Tier, WeirSuite}

/** Worker processes that are killed at random moments: `-Dweir.queue.kills=50` for many. */
class QueueKillSuite extends QueueFixture:
  private val kills = Tier.size("weir.queue.kills", 2, 30)
  override def limit: FiniteDuration = (150 + 10 * kills).seconds

  private val parallelism = 5

  private def start(database: String): Process =
    val java = ProcessHandle.current().info().command().orElse("java")
    val program =
      List("-cp", System.getProperty("java.class.path"), "weir.postgres.queue.QueueProgram")
    val arguments = List(server.jdbc(database), s"$parallelism", "3000")
    val command = (java :: WeirSuite.quickStart.toList) ::: ("-Xmx100m" :: program) ::: arguments
    ProcessBuilder(command.asJava).redirectErrorStream(true).start()

  private def awaitBegun(process: Process): Unit =
    val reader = process.inputReader()
    val first = reader.readLine()
    if first != "begun" then fail(s"$first\n${reader.lines.toList.asScala.mkString("\n")}")

  test("nothing is lost, and what is done again was in flight at a kill"):
    val (queue, database) = newQueue()
    val seed = Tier.seed("weir.queue.seed")
    val random = Random(seed)
    on(database)(server.execute(_, "CREATE TABLE effect (job bigint, attempt int)"))
    val count = 150 * kills
    queue.offerAll(offers(count)).runSync(): Unit
    def left = server.ask(database)("SELECT count(*) FROM weir_queue.work").toInt
    var hits = 0
    val processes = scala.collection.mutable.ListBuffer.fill(2)(start(database))
    try
      processes.foreach(awaitBegun)
      while hits < kills && left > 0 do
        LockSupport.parkNanos(random.nextInt(250).millis.toNanos)
        val victim = processes.remove(0)
        victim.toHandle.destroyForcibly(): Unit
        victim.waitFor(20, TimeUnit.SECONDS): Unit
        if left > 0 then hits += 1
        val next = start(database)
        processes += next
        awaitBegun(next)
      eventuallyDone("all are done")(left == 0)
    finally processes.foreach(_.destroyForcibly().waitFor(): Unit)
    def ask(sql: String) = server.ask(database)(sql).toInt
    assertEquals(ask("SELECT count(DISTINCT job) FROM effect"), count, s"-Dweir.queue.seed=$seed")
    assertEquals(queue.counts.runSync(), PgQueue.Counts(0, 0, 0, 0))
    val again = ask("SELECT count(*) FROM effect") - count
    println(s"queue, seed $seed: killed $hits times at work, $again of $count done again")
    assert(hits > 0, "It was never killed while there was work.")
    // Running, or ended and not reported yet; the two that are killed last had nothing.
    assert(again <= hits * 3 * parallelism, s"$again done again, -Dweir.queue.seed=$seed")

  private def eventuallyDone(clue: String)(condition: => Boolean): Unit =
    val deadline = 100.seconds.fromNow
    while !condition do
      if deadline.isOverdue() then fail(s"Not so after 100 s: $clue")
      Thread.sleep(20)
