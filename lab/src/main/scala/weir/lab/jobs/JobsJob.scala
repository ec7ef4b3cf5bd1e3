package weir.lab.jobs

import java.io.PrintWriter
import java.sql.{DriverManager, SQLException}
import java.util.concurrent.ConcurrentLinkedQueue
import scala.collection.mutable
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

import weir.Task
import weir.lab.{LabOptions, RivalJvm}
import weir.lab.ChildOutput.Message
import weir.program.{BadInput, Foreground, Result, ResultTable}

/** The whole of `weir jobs`: for each system and each number of processes, one JVM adds the jobs,
  * and then as many as there are processes work on them at once.
  */
final class JobsJob(settings: JobsJob.Settings, out: PrintWriter, err: PrintWriter):
  private val results = mutable.ArrayBuffer.empty[Result]
  private var isComplete = true

  /** Returns the exit code. **Fails** with [[BadInput]] if the database cannot be used. */
  def run(): Int =
    execute("CREATE SCHEMA IF NOT EXISTS weir_bench")
    val parts = for
      processes <- settings.processes
      system <- settings.systems
    yield Task.delay(measure(system, processes))
    Foreground.run(Task.foreach(parts)(identity).andThen(Task.delay(finish()))) match
      case Foreground.Ended.Done(code) => code
      case Foreground.Ended.Stopped(code, _) => code

  private def measure(system: String, processes: Int): Unit =
    val jobs = settings.jobs(system)
    say(s"$system: $jobs jobs, ${if processes == 1 then "1 process" else s"$processes processes"}")
    execute("DROP TABLE IF EXISTS weir_bench.ready; CREATE TABLE weir_bench.ready (n serial)")
    val filled = child(system, "fill", processes)(_ => ())
    val ends = ConcurrentLinkedQueue[JobsJob.End]()
    val workers = List.fill(processes)( // reading the output of a process holds a carrier
      Task.onPlatformThread(
        child(system, "work", processes)(event =>
          ends.add(
            JobsJob.End(
              event("done").num,
              event("begunMicros").num,
              event("lastMicros").num
            )
          ): Unit
        )
      )
    )
    val isFine = filled && Task.parSequence(workers).runSync().forall(identity)
    if isFine && ends.size == processes then report(system, processes, jobs, ends.asScala.toList)
    else isComplete = false

  /** Only the jobs after the moment at which the last process had warmed up count. */
  private def report(system: String, processes: Int, jobs: Int, ends: List[JobsJob.End]): Unit =
    val name = s"jobs a second: $processes"
    val done = ends.map(_.done).sum
    if done < jobs then fail(system, s"$done jobs of $jobs were done")
    else if ends.exists(_.begunMicros == 0) then fail(system, "a process had too few jobs")
    else
      // All work at the same pace, so what each did before is its warm-up.
      val seconds = (ends.map(_.lastMicros).max - ends.map(_.begunMicros).min) / 1e6
      val counted = done - ends.size * settings.warmUp
      val result = Result(name, system, counted / seconds, "jobs/s", Result.higher)
      results += result
      say(ResultTable.line(result))

  private def fail(system: String, why: String): Unit =
    err.println(s"$system: no result, since $why")
    isComplete = false

  private def child(system: String, part: String, processes: Int)(
      event: ujson.Obj => Unit
  ): Boolean =
    RivalJvm(
      "jobs",
      system,
      options = Seq(
        "part" -> part,
        "url" -> settings.url,
        "jobs" -> settings.jobs(system),
        "processes" -> processes,
        "parallelism" -> settings.parallelism,
        "warmUp" -> settings.warmUp
      ),
      deadline = settings.deadline
    ).run(err):
      case Message.Event(json) if part == "work" => event(json)
      case _ => ()

  private def finish(): Int =
    val all = results.toVector
    ResultTable
      .byUnit(all, Seq("jobs/s" -> "Jobs a second, by the number of processes"))
      .foreach(say)
    settings.lab.hand("jobs", all, isComplete)

  private def execute(sql: String): Unit =
    try
      val connection = DriverManager.getConnection(settings.url)
      try connection.createStatement().execute(sql): Unit
      finally connection.close()
    catch
      case error: SQLException =>
        throw BadInput(
          "--db",
          s"the database cannot be used (${error.getMessage}).",
          "Give the address of a database of Postgres in which tables may be made."
        )

  private def say(line: String): Unit =
    out.println(line)
    out.flush()

object JobsJob:
  /** @param jobs
    *   the number of jobs that a system is given
    * @param warmUp
    *   the number of jobs that each process does before the measurement
    */
  final case class Settings(
      url: String,
      systems: Vector[String],
      processes: Vector[Int],
      jobs: String => Int,
      parallelism: Int,
      warmUp: Int,
      deadline: FiniteDuration,
      lab: LabOptions.Checked
  )

  private final case class End(done: Double, begunMicros: Double, lastMicros: Double)

  val systems: Vector[String] = Vector("weir", "sql-loop", "db-scheduler", "jobrunr")

  /** The divisors of the number of jobs, for systems that are not built for so many. The other
    * systems need that many, so that they are measured and not their compilation.
    */
  val shares: Map[String, Int] = Map("db-scheduler" -> 5, "jobrunr" -> 50)

  /** With fewer some process may get none. */
  val least = 300
