package weir.lab.command

import java.util.concurrent.Callable
import scala.concurrent.duration.*

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.lab.LabOptions
import weir.lab.jobs.JobsJob
import weir.program.{BadInput, OptionValue}

/** `weir jobs`: its options, and nothing else. */
@Command(
  name = "jobs",
  sortOptions = false,
  description = Array(
    "Measure the jobs a second of queues in Postgres, over one process and several.",
    "",
    "It measures Weir's PgQueue beside a loop of its bare statements, db-scheduler and " +
      "JobRunr. The jobs do nothing, and have a payload of 100 bytes. They are in the queue " +
      "when the processes begin. The first jobs of each process are its warm-up.",
    ""
  ),
  footer = Array(
    "",
    "It creates tables in the database, and leaves them there: in the schemas weir_bench and " +
      "weir_bench_jobs, and for the rivals, scheduled_tasks and jobrunr_… in the usual schema.",
    "It takes about eight minutes; with --quick, two.",
    "Exit code: 0, 1 when a figure is missing, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class Jobs extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var lab: LabOptions = new LabOptions

  @Opt(
    names = Array("--db"),
    paramLabel = "URL",
    required = true,
    description = Array(
      "A database for this command alone: jdbc:postgresql://HOST/DATABASE?user=U&password=P"
    )
  )
  private[command] var db: String = ""

  @Opt(
    names = Array("--jobs"),
    paramLabel = "N",
    description = Array(
      "The number of jobs; db-scheduler gets a fifth of it, JobRunr a fiftieth, but at least " +
        "300. Default: 1000000; with --quick, 100000."
    )
  )
  private[command] var jobs: String | Null = null

  @Opt(
    names = Array("--processes"),
    paramLabel = "N[,N]",
    description = Array(
      "The numbers of processes that work at once. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var processes: String = "1,2,4"

  @Opt(
    names = Array("--parallel"),
    paramLabel = "N",
    description = Array(
      "The number of jobs that a process runs at once. Default: $" + "{DEFAULT-VALUE}."
    )
  )
  private[command] var parallel: String = "100"

  def call(): Int =
    val line = spec.commandLine
    JobsJob(settings, line.getOut, line.getErr).run()

  private[lab] def settings: JobsJob.Settings =
    if !db.startsWith("jdbc:postgresql:") then
      throw BadInput(
        "--db",
        "it is no address of Postgres.",
        "Give jdbc:postgresql://HOST/DATABASE."
      )
    val usual = if lab.isQuick then "100000" else "1000000"
    val count = OptionValue.count("--jobs", Option(jobs).getOrElse(usual), 1000, 100_000_000)
    val numbers = processes.split(",").toVector.map(OptionValue.count("--processes", _, 1, 64))
    // The warm-up is a tenth of the jobs of each process, in the run with the fewest jobs a
    // process.
    val warmUp = (count / 10 / numbers.max / 10).max(1)
    JobsJob.Settings(
      url = db,
      systems = lab.systems(JobsJob.systems),
      processes = numbers,
      jobs = system => (count / JobsJob.shares.getOrElse(system, 1)).max(count.min(JobsJob.least)),
      parallelism = OptionValue.count("--parallel", parallel, 1, 10_000),
      warmUp = warmUp,
      deadline = 30.minutes,
      lab = lab.checked()
    )
