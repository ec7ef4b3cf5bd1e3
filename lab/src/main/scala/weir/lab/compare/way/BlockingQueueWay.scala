package weir.lab.compare.way

import java.util.concurrent.LinkedBlockingQueue

import weir.Task

/** The JDK's queue, in plain code that blocks wherever it has to wait: also in the delays. */
private[compare] object BlockingQueueWay:
  def apply(work: Work): Task[Unit] = Task.defer:
    val queue = LinkedBlockingQueue[Option[Int]](work.capacity)
    val producer = Task.delay:
      work.batches.foreach(work.produceBlocking(_).foreach(task => queue.put(Some(task))))
      (1 to work.parallelism).foreach(_ => queue.put(None))
    val consumer = Task.delay:
      Iterator.continually(queue.take()).takeWhile(_.nonEmpty).flatten.foreach(work.consumeBlocking)
    Task
      .both(producer, Task.parForeachN(work.parallelism)(1 to work.parallelism)(_ => consumer))
      .void
