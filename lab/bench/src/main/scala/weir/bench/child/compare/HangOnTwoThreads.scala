package weir.bench.child.compare

import java.util.concurrent.LinkedBlockingQueue

import cats.effect.IO
import cats.effect.unsafe.IORuntime
import cats.syntax.all.*
import fs2.Stream

/** The way that hung, as it was published: `take` is in a plain IO, and the pool has two threads.
  *
  * Cats Effect's documentation warns against this; it is here to show the result. The way to do it
  * is the blocking queue's.
  */
object HangOnTwoThreads:
  private val consumers = 2

  def apply(work: CatsWork): IO[Unit] = IO.defer:
    val queue = LinkedBlockingQueue[Option[Int]](work.capacity)
    val consumer = Stream
      .repeatEval(IO(queue.take()))
      .unNoneTerminate
      .parEvalMapUnordered(work.parallelism / consumers)(work.consume)
      .compile
      .drain
    val producer = (work.stream(work.batches).noneTerminate ++ Stream.emit(None))
      .evalMap(task => IO(queue.put(task)))
      .compile
      .drain
    (Vector.fill(consumers)(consumer) :+ producer).parSequence_

  /** Makes a runtime with as many threads as the pool had, whatever the machine has. Each run gets
    * a new one, since a run that hangs keeps its threads.
    */
  def runtime(): IORuntime =
    val (pool, _, shutDown) = IORuntime.createWorkStealingComputeThreadPool(threads = 2)
    IORuntime.builder().setCompute(pool, shutDown).build()
