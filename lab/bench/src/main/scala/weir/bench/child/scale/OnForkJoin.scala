package weir.bench.child.scale

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{
  Callable,
  CountDownLatch,
  ForkJoinPool,
  ForkJoinTask,
  RecursiveTask,
  TimeUnit
}
import scala.jdk.CollectionConverters.*

import weir.lab.scale.ScaleRow

/** The JDK's ForkJoinPool, with tasks that fork and join others. */
private[scale] final class OnForkJoin(carriers: Int) extends ScaleSystem:
  private val pool = ForkJoinPool(carriers)

  def run(load: Load): Option[() => Long] =
    val part: PartialFunction[ScaleRow, () => Long] =
      case ScaleRow.ForkFlat => () => pool.invoke(Forked(load.items))
      case ScaleRow.ForkTree => () => pool.invoke(Fibonacci(load.each))
      case ScaleRow.GatherReady | ScaleRow.GatherWork => () => pool.invoke(Gathered(load))
      case ScaleRow.TimersRing => () => rings(load)
      case ScaleRow.ParEvalMap1 | ScaleRow.ParEvalMap10 =>
        val items = java.util.ArrayList(load.items.asJava)
        () =>
          pool
            .submit(
              (() => items.parallelStream().mapToLong(load.compute(_).toLong).sum()): Callable[Long]
            )
            .get
      case ScaleRow.RunSync => () => calls(load)
    part.lift(load.row)

  /** Each sleep is a scheduled call. When it is over, it schedules the next. */
  private def rings(load: Load): Long =
    val rung = AtomicLong()
    val ended = CountDownLatch(load.fibers)
    def next(left: Int): Unit =
      if left == 0 then ended.countDown()
      else
        pool.schedule(
          (() => {
            rung.incrementAndGet(): Unit
            next(left - 1)
          }): Runnable,
          1,
          TimeUnit.MILLISECONDS
        ): Unit
    for _ <- 1 to load.fibers do next(load.each)
    ended.await()
    rung.get

  private def calls(load: Load): Long =
    val call: Callable[Long] = () => 1L
    ScaleSystem.onPlatformThreads(load.fibers): () =>
      var sum = 0L
      for _ <- load.items do sum += pool.submit(call).get
      sum

  private final class Forked(items: List[Int]) extends RecursiveTask[Long]:
    def compute(): Long =
      // The latest first: that is the order in which the pool has them.
      items.map(i => Leaf(() => i).fork()).reverseIterator.map(_.join().toLong).sum

  private final class Gathered(load: Load) extends RecursiveTask[Long]:
    def compute(): Long =
      val tasks = java.util.ArrayList(load.items.map(i => Leaf(() => load.compute(i))).asJava)
      ForkJoinTask.invokeAll(tasks).iterator.asScala.map(_.join().toLong).sum

  private final class Leaf(thunk: () => Int) extends RecursiveTask[Int]:
    def compute(): Int = thunk()

  private final class Fibonacci(n: Int) extends RecursiveTask[Long]:
    def compute(): Long =
      if n < 2 then n
      else
        val left = Fibonacci(n - 1)
        left.fork(): Unit
        val right = Fibonacci(n - 2).compute()
        left.join() + right
