package weir.bench.child.highload

import weir.lab.{ChildOutput, Experiment}
import weir.lab.compare.{ShortTasks, WorkTimes}
import weir.program.{Result, Systems}

/** Measures the hand-over of very many short tasks: one way of one system, for `weir compare
  * --tasks`.
  */
object HighLoad extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val name = options.text("way")
    val work = options.text("work")
    val tasks = ShortTasks(
      options.int("tasks"),
      WorkTimes.parse(work).getOrElse(throw IllegalArgumentException(s"work=$work")),
      options.int("consumers"),
      options.long("seed")
    )
    val millis = tasks.bestMillis(way(system, name)(tasks, _))
    out.result(Result.millis(s"high-load: $name", system, millis))

  /** Consumes all tasks. **Fails** if there is no such way. */
  def way(system: String, name: String): (ShortTasks, ShortTasks#Run) => Unit =
    ways.getOrElse(
      (system, name),
      throw IllegalArgumentException(s"high-load has no way '$name' on '$system'")
    )

  private[highload] val ways: Map[(String, String), (ShortTasks, ShortTasks#Run) => Unit] = Map(
    (Systems.bound, "work") -> JdkHighLoad.work,
    (Systems.weir, "blocking-queue") -> WeirHighLoad.blockingQueue,
    (Systems.weir, "queue") -> WeirHighLoad.queue,
    (Systems.weir, "queue-batches") -> WeirHighLoad.queueBatches,
    (Systems.weir, "stealing-queues") -> WeirHighLoad.stealing,
    (Systems.weir, "stream") -> WeirHighLoad.stream,
    ("platform-threads", "blocking-queue") -> JdkHighLoad.blockingQueue(Thread.ofPlatform()),
    ("virtual-threads", "blocking-queue") -> JdkHighLoad.blockingQueue(Thread.ofVirtual()),
    ("virtual-threads", "thread-each") -> JdkHighLoad.threadEach,
    ("fork-join", "submit-each") -> JdkHighLoad.forkJoin,
    ("cats-effect", "queue") -> CatsHighLoad.queue,
    ("fs2", "stream") -> CatsHighLoad.stream,
    ("ox", "stream") -> OxHighLoad.stream
  )
