package weir.bench.child.scale

import scala.concurrent.duration.*

import weir.bench.Rivals
import weir.lab.scale.ScaleRow
import weir.{Mutex, Queue, Semaphore, Stream, Task}

/** Weir, on the carriers of the JVM. */
private[scale] object OnWeir extends ScaleSystem:
  def run(load: Load): Option[() => Long] =
    val task = (fibers(load) orElse gathers(load) orElse streams(load)).lift(load.row)
    task
      .map(task => () => task.runSync())
      .orElse(Option.when(load.row == ScaleRow.RunSync)(calls(load)))

  private def fibers(load: Load): PartialFunction[ScaleRow, Task[Long]] =
    case ScaleRow.ForkFlat => started(load.items)(i => Task.delay(i.toLong))
    case ScaleRow.ForkTree => fibonacci(load.each)
    case ScaleRow.Yields => each(load)(Task.cede)
    case ScaleRow.QueueOne | ScaleRow.QueueMany =>
      Queue
        .bounded[Int](load.capacity)
        .flatMap(queue => through(List.fill(load.fibers)(queue), load))
    case ScaleRow.QueuePairs =>
      Task
        .traverse(List.range(0, load.fibers))(_ => Queue.bounded[Int](load.capacity))
        .flatMap(through(_, load))
    case ScaleRow.TimersSet => each(load)(Task.cede.timeout(1.minute))
    case ScaleRow.TimersRing => each(load)(Task.sleep(1.milli))
    case ScaleRow.Semaphore =>
      Semaphore(load.permits).flatMap(semaphore => each(load)(semaphore.withPermit(Task.cede)))
    case ScaleRow.Mutex =>
      Mutex().flatMap: mutex =>
        var sum = 0L
        each(load)(mutex.withLock(Task.delay(sum += 1))).flatMap(_ => Task.delay(sum))
    case ScaleRow.Sleeping => started(load.items)(_ => Task.sleep(load.sleep).as(1L))

  private def gathers(load: Load): PartialFunction[ScaleRow, Task[Long]] =
    case ScaleRow.GatherReady | ScaleRow.GatherWork =>
      gather(load)(i => Task.delay(load.compute(i)))
    case ScaleRow.GatherForked => gather(load)(i => Task.cede.andThen(Task.delay(i)))
    case ScaleRow.Blocking =>
      gather(load): _ =>
        Task.delay:
          Thread.sleep(1)
          1

  private def streams(load: Load): PartialFunction[ScaleRow, Task[Long]] =
    case ScaleRow.ParEvalMap0 | ScaleRow.ParEvalMap1 | ScaleRow.ParEvalMap10 =>
      Stream
        .fromIterable(load.items)
        .parEvalMap(load.parallelism)(i => Task.delay(load.compute(i)))
        .fold(0L)(_ + _)
    case ScaleRow.Merge =>
      Tree.of(sources(load))((left, right) => left.merge(right)).fold(0L)(_ + _)
    case ScaleRow.ParJoin =>
      Stream.fromIterable(sources(load)).parJoin(load.fibers).fold(0L)(_ + _)

  private def sources(load: Load): Vector[Stream[Int]] =
    Vector.fill(load.fibers)(
      Stream.fromIterable(load.items).evalMap(i => Task.delay(load.compute(i)))
    )

  private def gather(load: Load)(f: Int => Task[Int]): Task[Long] =
    Task.parTraverse(load.items)(f).map(Rivals.total)

  /** Starts a fiber for each item, and returns the sum of the results. */
  private def started(items: List[Int])(f: Int => Task[Long]): Task[Long] =
    Task
      .traverse(items)(i => f(i).start)
      .flatMap(fibers => Task.traverse(fibers)(_.joinOrFail))
      .map(_.sum)

  /** Runs `step` in each fiber of `load` as often as it says, and counts. */
  private def each(load: Load)(step: Task[Any]): Task[Long] =
    def loop(done: Int): Task[Long] =
      if done == load.each then Task.pure(done) else step.flatMap(_ => loop(done + 1))
    started(List.range(0, load.fibers))(_ => loop(0))

  private def fibonacci(n: Int): Task[Long] =
    if n < 2 then Task.pure(n)
    else
      for
        fiber <- Task.defer(fibonacci(n - 1)).start
        right <- fibonacci(n - 2)
        left <- fiber.joinOrFail
      yield left + right

  private def through(queues: List[Queue[Int]], load: Load): Task[Long] =
    def produce(queue: Queue[Int], left: Int): Task[Unit] =
      if left == 0 then Task.unit
      else queue.offer(left - 1).flatMap(_ => produce(queue, left - 1))
    def consume(queue: Queue[Int], left: Int, sum: Long): Task[Long] =
      if left == 0 then Task.pure(sum)
      else queue.take.flatMap(n => consume(queue, left - 1, sum + n))
    for
      producers <- Task.traverse(queues)(produce(_, load.each).start)
      consumers <- Task.traverse(queues)(consume(_, load.each, 0).start)
      _ <- Task.foreach(producers)(_.joinOrFail)
      sums <- Task.traverse(consumers)(_.joinOrFail)
    yield sums.sum

  private def calls(load: Load): () => Long =
    val call = Task.cede.as(1L)
    () =>
      ScaleSystem.onPlatformThreads(load.fibers): () =>
        var sum = 0L
        for _ <- load.items do sum += call.runSync()
        sum
