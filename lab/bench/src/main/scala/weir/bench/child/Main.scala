package weir.bench.child

import weir.bench.tasks.TaskSystems
import weir.bench.child.burst.Burst
import weir.bench.child.clients.Clients
import weir.bench.child.compare.Compare
import weir.bench.child.highload.HighLoad
import weir.bench.child.jobs.Jobs
import weir.bench.child.kafka.Kafka
import weir.bench.child.scale.Scale
import weir.bench.child.sleepers.Sleepers
import weir.bench.child.stack.Stack
import weir.lab.{ChildProgram, Ping}
import weir.lab.gather.GatherExperiment

/** A measuring JVM for Weir, Cats Effect 3, fs2, ZIO, Ox and the plain JDK. */
object Main:
  private val program = ChildProgram(
    Map(
      "gather" -> GatherExperiment(TaskSystems.all),
      "burst" -> Burst,
      "clients" -> Clients,
      "compare" -> Compare,
      "high-load" -> HighLoad,
      "jobs" -> Jobs,
      "kafka" -> Kafka,
      "scale" -> Scale,
      "sleepers" -> Sleepers,
      "stack" -> Stack,
      "ping" -> Ping
    )
  )

  def main(args: Array[String]): Unit = program.main(args)
