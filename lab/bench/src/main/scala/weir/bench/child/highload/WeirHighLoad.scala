package weir.bench.child.highload

import java.util.concurrent.LinkedBlockingQueue

import weir.{Queue, Stream, Task}
import weir.lab.compare.ShortTasks

/** The ways of Weir. They run on workers, as the main task of a `WeirApp` does. */
private[highload] object WeirHighLoad:
  /** The largest number of tasks that are taken at once: a sixteenth of the capacity. */
  private val batch = 64

  val blockingQueue: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    val queue = LinkedBlockingQueue[Int](ShortTasks.capacity)
    val producer = Task {
      for task <- 0 until tasks.count do queue.put(task)
      for _ <- 0 until tasks.consumers do queue.put(-1)
    }
    val consumer = Task {
      Iterator.continually(queue.take()).takeWhile(_ >= 0).foreach(run.consume)
    }
    runOnWorkers(Task.both(producer, all(tasks)(_ => consumer)))

  val queue: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    runOnWorkers(Queue.bounded[Int](ShortTasks.capacity).flatMap { queue =>
      def consumer: Task[Unit] = queue.take.flatMap { task =>
        if task < 0 then Task.unit
        else
          run.consume(task)
          consumer
      }
      Task.both(produce(tasks, queue.offer), all(tasks)(_ => consumer))
    })

  /** As `queue`, but the producer offers batches, and a consumer takes the tasks that are there, up
    * to a batch.
    */
  val queueBatches: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    runOnWorkers(Queue.bounded[Int](ShortTasks.capacity).flatMap { queue =>
      def consumer: Task[Unit] = queue.takeBetween(1, batch).flatMap { taken =>
        val (some, ends) = taken.span(_ >= 0)
        some.foreach(run.consume)
        if ends.isEmpty then consumer else Task.foreach(ends.tail)(queue.offer)
      }
      val producer = batches(tasks).evalForeach(queue.offerAll).andThen(ends(tasks, queue.offer))
      Task.both(producer, all(tasks)(_ => consumer))
    })

  val stealing: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    val capacity = (ShortTasks.capacity / tasks.consumers).max(1)
    val queues = StealingQueues[Int](tasks.consumers, capacity, batch)
    def consumer(own: Int): Task[Unit] = queues.take(own).flatMap { taken =>
      if taken.isEmpty then Task.unit
      else
        taken.foreach(run.consume)
        consumer(own)
    }
    val producer = batches(tasks).evalForeach(queues.offerAll).andThen(queues.close)
    runOnWorkers(Task.both(producer, all(tasks)(consumer)))

  val stream: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    runOnWorkers(
      numbers(tasks).parEvalMapUnordered(tasks.consumers)(task => Task(run.consume(task))).drain
    )

  private def numbers(tasks: ShortTasks): Stream[Int] = Stream.range(0, tasks.count)

  private def batches(tasks: ShortTasks): Stream[Vector[Int]] = numbers(tasks).chunkN(batch)

  /** All tasks, and then an end for each consumer. */
  private def produce(tasks: ShortTasks, offer: Int => Task[Unit]): Task[Unit] =
    numbers(tasks).evalForeach(offer).andThen(ends(tasks, offer))

  private def ends(tasks: ShortTasks, offer: Int => Task[Unit]): Task[Unit] =
    Task.foreach(0 until tasks.consumers)(_ => offer(-1))

  private def all(tasks: ShortTasks)(consumer: Int => Task[Unit]): Task[Unit] =
    Task.parForeachN(tasks.consumers)(0 until tasks.consumers)(consumer)

  private def runOnWorkers(task: Task[Any]): Unit = task.start.flatMap(_.joinOrFail).void.runSync()
