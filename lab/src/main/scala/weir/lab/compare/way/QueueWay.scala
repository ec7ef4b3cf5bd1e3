package weir.lab.compare.way

import weir.{Queue, Task}

/** Weir's queue, on which only the fiber waits; one producer, or several. */
private[compare] object QueueWay:
  def apply(work: Work, shares: Vector[Vector[Int]]): Task[Unit] =
    Queue.bounded[Option[Int]](work.capacity).flatMap { queue =>
      def produce(batch: Int): Task[Unit] =
        work.produce(batch).flatMap(tasks => Task.foreach(tasks)(task => queue.offer(Some(task))))

      def consumer: Task[Unit] = queue.take.flatMap:
        case Some(task) => work.consume(task).andThen(consumer)
        case None => Task.unit

      val producers = Task.parTraverse(shares)(Task.foreach(_)(produce))
      val ends = Task.foreach(1 to work.parallelism)(_ => queue.offer(None))
      val consumers = Task.parForeachN(work.parallelism)(1 to work.parallelism)(_ => consumer)
      Task.both(producers.andThen(ends), consumers).void
    }
