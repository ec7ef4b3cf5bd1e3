package weir.bench.child.compare

import cats.effect.IO

import weir.bench.Rivals
import weir.lab.compare.{Contestant, Course, Plan, Way}

/** The program for each way on Cats Effect, with fs2 where it is a stream. */
object CatsWays extends Contestant:
  def system(way: Way): String = way.rival

  def mayHang(way: Way): Boolean = way == Way.Hang

  def run(way: Way, plan: Plan, course: Course): Unit =
    val work = CatsWork(plan, course)
    way match
      case Way.Batch => Rivals.runCats(CatsQueueWays.batch(work))
      case Way.BlockingQueue => Rivals.runCats(CatsQueueWays.blockingQueue(work))
      case Way.Queue => Rivals.runCats(CatsQueueWays.queue(work, Vector(work.batches)))
      case Way.Stream => Rivals.runCats(Fs2Ways.stream(work))
      case Way.Prefetch => Rivals.runCats(Fs2Ways.prefetch(work))
      case Way.ParallelQueue => Rivals.runCats(CatsQueueWays.queue(work, work.halves))
      case Way.ParallelStream => Rivals.runCats(Fs2Ways.parallelStream(work))
      case Way.Hang => runHang(HangOnTwoThreads(work))

  private def runHang(io: IO[Unit]): Unit =
    val runtime = HangOnTwoThreads.runtime()
    io.unsafeRunSync()(using runtime)
    runtime.shutdown()
