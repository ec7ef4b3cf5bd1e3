package weir.bench.child.jobs

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.locks.LockSupport
import scala.concurrent.duration.*

import weir.lab.{ChildOutput, Experiment}

/** Measures the jobs a second of a queue in Postgres, over several processes.
  *
  *   - `part=fill`: makes the tables and adds the jobs;
  *   - `part=work`: works on them, at the same time as other processes, until none is left. The
  *     first of them are the warm-up: what is measured begins at the moment `warmUp` of them are
  *     done.
  *
  * A process reports times of the machine's clock, so that the parent can combine those of several
  * processes.
  */
object Jobs extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val jobs = JobSystem.all.getOrElse(
      system,
      throw IllegalArgumentException(s"there is no system '$system'")
    )
    val url = options.text("url")
    options.text("part") match
      case "fill" =>
        jobs.create(url)
        jobs.fill(url, options.int("jobs"))
        JobSystem.withConnection(url)(JobSystem.execute(_, "VACUUM ANALYZE"))
        out.event(ujson.Obj("filled" -> options.int("jobs")))
      case "work" => work(jobs, url, options, out)
      case other => throw IllegalArgumentException(s"jobs has no part '$other'")

  private def work(
      jobs: JobSystem,
      url: String,
      options: Experiment.Options,
      out: ChildOutput
  ): Unit =
    val warmUp = options.int("warmUp")
    val done = AtomicLong()
    val begunMicros = AtomicLong()
    val lastMicros = AtomicLong(micros())
    awaitOthers(url, options.int("processes"))
    val worker = jobs.work(
      url,
      options.int("parallelism"),
      () => {
        val now = micros()
        if done.incrementAndGet() == warmUp then begunMicros.set(now)
        lastMicros.set(now)
      }
    )
    var left = 1L
    JobSystem.withConnection(url): connection =>
      while left > 0 do
        LockSupport.parkNanos(pause.toNanos)
        if micros() - lastMicros.get > idle.toMicros then
          left = JobSystem.ask(connection, jobs.left)
    worker.close()
    out.event(
      ujson.Obj(
        "done" -> done.get.toDouble,
        "begunMicros" -> begunMicros.get.toDouble,
        "lastMicros" -> lastMicros.get.toDouble
      )
    )

  private val pause = 500.millis

  /** The server is not asked how many are left while there is work. That would read the whole
    * table, and keep it from being cleaned meanwhile.
    */
  private val idle = 1.second

  private def micros(): Long =
    val now = java.time.Instant.now()
    now.getEpochSecond * 1_000_000 + now.getNano / 1000

  /** So that the start of JVMs is not measured. */
  private def awaitOthers(url: String, processes: Int): Unit =
    JobSystem.withConnection(url): connection =>
      JobSystem.execute(connection, "INSERT INTO weir_bench.ready DEFAULT VALUES")
      while JobSystem.ask(connection, "SELECT count(*) FROM weir_bench.ready") < processes do
        LockSupport.parkNanos(1_000_000)
