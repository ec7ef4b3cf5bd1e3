package weir.postgres.queue

import java.sql.DriverManager
import java.util.concurrent.atomic.AtomicLong
import scala.concurrent.duration.*

import weir.{Task, Tier, WeirSuite}
import weir.postgres.journal.MortalServer

/** Jobs that come and go for long: `-Dweir.queue.jobs=10000000` for ten million. */
class QueueSizeSuite extends WeirSuite:
  private val jobs = Tier.size("weir.queue.jobs", 0, 1_000_000)
  override def limit: FiniteDuration = 1.minute + (jobs / 300).seconds

  private val waiting = 5000
  private val atOnce = 500

  /** Of jobs, whatever else the machine does: what a vacuum finds is what came since the last one.
    */
  private val perSecond = 20_000

  if jobs > 0 then // in the long tier
    test("the tables stay as large as what waits, however many jobs go through them")(measure())

  private def measure(): Unit =
    val server = MortalServer()
    try
      val url =
        s"jdbc:postgresql://localhost:${server.port}/${server.newDatabase("size")}?user=postgres"
      val connection = DriverManager.getConnection(url)
      def run(sql: String): Unit = connection.createStatement().execute(sql): Unit
      // So that minutes show what otherwise takes hours: usually it is a minute.
      run("ALTER SYSTEM SET autovacuum_naptime = '2s'")
      run("SELECT pg_reload_conf()")
      val queue = PgQueue(() => DriverManager.getConnection(url), "work", PgCodec.text)
      queue.create.runSync()
      val offered = AtomicLong()
      val done = AtomicLong()
      val offering = Task.direct {
        var next = System.nanoTime()
        while offered.get < jobs do
          val now = System.nanoTime()
          if now - next < 0 || offered.get - done.get > waiting then Task.sleep(1.milli).await
          else
            // Missed offers are not made up for.
            next = math.max(next, now - 10_000_000) + atOnce * 1_000_000_000L / perSecond
            queue.offerAll(Vector.fill(atOnce)(PgOffer("x" * 100))).await: Unit
            offered.addAndGet(atOnce): Unit
      }
      def bytes: Long =
        val rows = connection
          .createStatement()
          .executeQuery("SELECT pg_total_relation_size('weir_queue.work')")
        rows.next(): Unit
        rows.getLong(1)
      // The largest size in each tenth of the jobs.
      val sizes = Array.fill(10)(0L)
      val watching = Task
        .sleep(200.millis)
        .map { _ =>
          val tenth = (done.get * 10 / jobs).toInt.min(9)
          sizes(tenth) = sizes(tenth).max(bytes)
        }
        .forever
      val start = System.nanoTime()
      val working = queue
        .stream(100, 1.minute)(_ => Task(done.incrementAndGet()))
        .take(jobs)
        .drain
      Task.race(offering.both(working), watching).runSync(): Unit
      val seconds = (System.nanoTime() - start) / 1e9
      val megabytes = sizes.map(_ / 1_000_000).mkString(", ")
      println(f"$jobs jobs in $seconds%.0f s, ${jobs / seconds}%.0f a second; MB: $megabytes")
      val early = sizes.slice(1, 4).max
      val late = sizes.slice(7, 10).max
      assert(late <= early * 3 / 2, s"MB by tenths: $megabytes")
      connection.close()
    finally server.close()
