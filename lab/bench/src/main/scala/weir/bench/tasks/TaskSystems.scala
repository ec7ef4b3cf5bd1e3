package weir.bench.tasks

import weir.lab.gather.TaskSystem

/** The systems that can be measured in a JVM with Cats Effect 3. */
object TaskSystems:
  def all: Seq[TaskSystem] =
    Seq(WeirTasks, CatsEffectTasks, ZioTasks, FutureTasks, OxTasks, VirtualThreadTasks)
