package weir.lab.command

import java.util.concurrent.Callable

import picocli.CommandLine.{Command, Mixin, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.lab.LabOptions
import weir.lab.gather.{GatherJob, GatherPlan, GatherProgress}

/** `weir gather`: its options, and nothing else. */
@Command(
  name = "gather",
  sortOptions = false,
  description = Array(
    "Measure how fast lists of small tasks run on Weir and on its rivals.",
    "",
    "This is Monix's published benchmark of a task type's speed. Each task returns 1. The " +
      "figure is the number of times a second that the whole list runs. sequence runs the " +
      "tasks in order, gather concurrently, unordered concurrently with results as they come. " +
      "A ready task runs at once; a forked one goes through the system's scheduler first.",
    "",
    "The lists have 1,000, 10 and 100,000 tasks. Each case on each system has a JVM of its " +
      "own, with the same flags. For 1,000 tasks there are five JVMs, in rounds in which the " +
      "systems take turns, and the middle figure counts. The result of every run is checked. " +
      "It takes about 15 minutes.",
    ""
  ),
  footer = Array(
    "",
    "--quick: 1,000 tasks only, in one JVM for each system. That may be too short for the " +
      "JVM to compile everything fully.",
    "--seed has no effect here, since nothing is random.",
    "",
    "A system is left out of the forms that it lacks. Future, Ox and virtual threads have no " +
      "task that has not started. So for them a ready list in order is a plain loop, and " +
      "gathering ready tasks is the same work as gathering forked ones. Cats Effect, Future " +
      "and Ox have no unordered form.",
    "Exit code: 0, 1 if figures are missing, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class Gather extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var lab: LabOptions = LabOptions()

  def call(): Int =
    val line = spec.commandLine
    val options = lab.checked()
    val systems = lab.systems(GatherPlan.systems)
    val plan = if options.isQuick then GatherPlan.quick(systems) else GatherPlan.full(systems)
    val progress = GatherProgress.on(line.getErr, plan)
    val measured = GatherJob(plan, progress).run()
    measured.table.foreach(line.getOut.println)
    options.hand("gather", measured.results, measured.isComplete)
