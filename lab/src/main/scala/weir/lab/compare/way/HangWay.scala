package weir.lab.compare.way

import java.util.concurrent.LinkedBlockingQueue

import weir.{Stream, Task}

/** Two streams that block their thread in take, started before there is anything to take.
  *
  * In the source two of them held both threads of the pool, so that nothing was ever produced.
  */
private[compare] object HangWay:
  private val consumers = 2

  def apply(work: Work): Task[Unit] = Task.defer:
    val queue = LinkedBlockingQueue[Option[Int]](work.capacity)
    val consumer = Stream
      .repeatEval(Task.delay(queue.take()))
      .takeWhile(_.nonEmpty)
      .flatMap(Stream.fromIterable(_))
      .parEvalMapUnordered(work.parallelism / consumers)(work.consume)
      .drain
    val producer = work
      .stream(work.batches)
      .map(Some(_))
      .++(Stream.fromIterable(Vector.fill(consumers)(None)))
      .evalMap(task => Task.delay(queue.put(task)))
      .drain
    Task.parSequence(Vector.fill(consumers)(consumer) :+ producer).void
