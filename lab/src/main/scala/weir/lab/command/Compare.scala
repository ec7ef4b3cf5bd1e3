package weir.lab.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.lab.LabOptions
import weir.lab.compare.{CompareJob, CompareSettings, HighLoad, WorkTimes}
import weir.lab.compare.way.WeirWays
import weir.program.{BadInput, OptionValue}

/** `weir compare`: its options, and nothing else. */
@Command(
  name = "compare",
  sortOptions = false,
  description = Array(
    "Compare eight ways to produce and consume tasks, on Weir and on Cats Effect with fs2.",
    "",
    "There are 1,000 tasks in 10 batches of 100, and at most 100 tasks are consumed at a " +
      "time. They only wait, so each way has a bound: the time of its delays alone. The ways " +
      "run side by side, and so do the loads if the terminal has room. Weir and its rivals " +
      "each have a JVM of their own. A P stands for some tasks that have been produced, a C " +
      "for as many that have been consumed.",
    "",
    "slow-producer: 1,000 ms for a batch, 10 to 100 ms for a task;",
    "balanced: 1,005 ms for a batch, 10 to 2,000 ms for a task;",
    "slow-consumer: 10 ms for a batch, 10 to 1,000 ms for a task.",
    ""
  ),
  footer = Array(
    "",
    "The ways, and the bound of each:",
    "",
    "batch: produce a batch, consume all of it, then the next one. Bound: the sum, over the " +
      "batches, of producing it and of its slowest task.",
    "blocking-queue: a queue of java.util.concurrent; the producer blocks in put and the " +
      "consumers " +
      "in take. Bound: producer and consumers wait for each other only, with a place for 200 " +
      "tasks " +
      "between them.",
    "queue: the library's own queue, on which only the fiber waits. Bound: as blocking-queue.",
    "stream: a stream of batches, whose tasks are consumed concurrently. Bound: a batch is begun " +
      "when the last task of the one before has found a consumer.",
    "prefetch: the same stream with a prefetch. Bound: as blocking-queue.",
    "parallel-queue: two producers, each of half the batches, and the library's queue. Bound: as " +
      "blocking-queue, with both producers at work.",
    "parallel-stream: two streams of half the batches each, joined, and a prefetch. Bound: as " +
      "parallel-queue.",
    "hang: two consumers that block in take, started before the producer. On Cats Effect as it " +
      "was " +
      "published, on a pool of two threads, which they hold. Bound: as blocking-queue.",
    "",
    "With --tasks, tasks that compute are handed over instead: by one queue, one by one and " +
      "in batches; by a stream; and by stealing-queues, where each consumer has a queue of its " +
      "own and takes from the others' queues when it is empty. The rivals are threads, virtual " +
      "threads and a fork-join pool of the JDK, Cats Effect, fs2 and Ox. The bound is " +
      "measured, by threads that share the tasks from the beginning.",
    ""
  )
)
final class Compare extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Opt(
    names = Array("--load"),
    paramLabel = "LOAD[,LOAD]",
    description = Array("Only these loads.")
  )
  private[command] var loads: String | Null = null

  @Opt(
    names = Array("--way"),
    paramLabel = "WAY[,WAY]",
    description = Array("Only these ways; see below.")
  )
  private[command] var ways: String | Null = null

  @Opt(
    names = Array("--speed"),
    paramLabel = "FACTOR",
    description = Array("Divides all delays. Default: 1; with --quick, 2.")
  )
  private[command] var speed: String | Null = null

  @Opt(
    names = Array("--tasks"),
    paramLabel = "NUMBER",
    description = Array(
      "Measure this number of tasks that compute, in place of the loads and ways, from one " +
        "producer to as many consumers as there are processors, all at full speed. 1,000,000 " +
        "tasks take 3 minutes."
    )
  )
  private[command] var tasks: String | Null = null

  @Opt(
    names = Array("--work"),
    paramLabel = "FROM..TO",
    description = Array(
      "The time for which such a task computes. Default: 1us..10us. To have long ones among " +
        "them: 1us..10us,1%%:500us."
    )
  )
  private[command] var work: String | Null = null

  @Mixin
  private[command] var lab: LabOptions = new LabOptions

  def call(): Int =
    val line = spec.commandLine
    Option(tasks) match
      case Some(text) => HighLoad(highLoad(text), line.getOut, line.getErr).run()
      case None =>
        if work != null then
          throw BadInput("--work", "there is no --tasks.", "Give --tasks 1000000, for example.")
        CompareJob(settings, WeirWays, line.getOut, line.getErr).run()

  private def highLoad(tasks: String): HighLoad.Settings =
    for (option, value) <- Seq("--load" -> loads, "--way" -> ways, "--speed" -> speed) do
      if value != null then
        throw BadInput(option, "it has no meaning with --tasks.", "Leave one of the two out.")
    val text = Option(work).getOrElse("1us..10us")
    HighLoad.Settings(
      OptionValue.count("--tasks", tasks, least = 1, most = 100_000_000),
      WorkTimes
        .parse(text)
        .getOrElse(
          throw BadInput("--work", s"'$text' is no range of times.", "Write it like 1us..10us.")
        ),
      java.lang.Runtime.getRuntime.availableProcessors,
      lab.systems(HighLoad.systems),
      lab.checked()
    )

  private def settings: CompareSettings =
    val checked = lab.checked()
    CompareSettings(
      loads = CompareSettings.loads(Option(loads)),
      ways = CompareSettings.ways(Option(ways)),
      systems = lab.systems(CompareSettings.systems),
      speed = Option(speed).fold(if checked.isQuick then CompareSettings.quickSpeed else 1.0)(
        OptionValue.factor("--speed", _)
      ),
      warmUp = CompareSettings.usualWarmUp,
      lab = checked
    )
