package weir.bench.ce2

import weir.lab.{ChildProgram, Ping}
import weir.lab.gather.{GatherExperiment, TaskSystem}

/** A measuring JVM for Monix and Scalaz, whose Cats Effect 2 cannot share a class path with 3. */
object Main:
  private[ce2] val systems: Seq[TaskSystem] = Seq(MonixTasks, ScalazTasks)

  private val program = ChildProgram(
    Map(
      "gather" -> GatherExperiment(systems),
      "ping" -> Ping
    )
  )

  def main(args: Array[String]): Unit = program.main(args)
