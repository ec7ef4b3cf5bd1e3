package weir.bench.child.highload

import cats.effect.IO
import cats.effect.std.Queue
import cats.syntax.all.*
import fs2.Stream

import weir.bench.Rivals
import weir.lab.compare.ShortTasks

/** The ways of Cats Effect and fs2. */
private[highload] object CatsHighLoad:
  val queue: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    Rivals.runCats(Queue.bounded[IO, Int](ShortTasks.capacity).flatMap { queue =>
      def produce(task: Int): IO[Unit] =
        if task == tasks.count then queue.offer(-1).replicateA_(tasks.consumers)
        else queue.offer(task) >> produce(task + 1)
      def consumer: IO[Unit] = queue.take.flatMap { task =>
        if task < 0 then IO.unit
        else
          run.consume(task)
          consumer
      }
      (produce(0), consumer.parReplicateA_(tasks.consumers)).parTupled.void
    })

  val stream: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    Rivals.runCats(
      Stream
        .range(0, tasks.count)
        .covary[IO]
        .parEvalMapUnordered(tasks.consumers)(task => IO(run.consume(task)))
        .compile
        .drain
    )
