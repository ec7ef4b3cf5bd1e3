package weir.lab.compare.way

import weir.lab.compare.{Contestant, Course, Plan, Way}
import weir.program.Systems

/** Weir's program for each way. */
object WeirWays extends Contestant:
  def system(way: Way): String = Systems.weir

  def mayHang(way: Way): Boolean = false

  def run(way: Way, plan: Plan, course: Course): Unit =
    val work = Work(plan, course)
    val task = way match
      case Way.Batch => BatchWay(work)
      case Way.BlockingQueue => BlockingQueueWay(work)
      case Way.Queue => QueueWay(work, Vector(work.batches))
      case Way.Stream => StreamWay(work)
      case Way.Prefetch => PrefetchWay(work)
      case Way.ParallelQueue => QueueWay(work, work.halves)
      case Way.ParallelStream => ParallelStreamWay(work)
      case Way.Hang => HangWay(work)
    task.runSync()
