package weir.bench.child.scale

import weir.bench.Rivals
import weir.lab.scale.ScaleRow
import zio.stream.ZStream
import zio.{Queue, Semaphore, UIO, ZIO, durationInt}

/** ZIO on its pool, which has a thread for each processor, with blocking code in
  * `ZIO.attemptBlocking`.
  */
private[scale] object OnZio extends ScaleSystem:
  private type Effect = ZIO[Any, Throwable, Long]

  def run(load: Load): Option[() => Long] =
    val effect = (fibers(load) orElse gathers(load) orElse streams(load)).lift(load.row)
    effect
      .map(effect => () => Rivals.runZio(effect))
      .orElse(Option.when(load.row == ScaleRow.RunSync)(calls(load)))

  private def fibers(load: Load): PartialFunction[ScaleRow, Effect] =
    case ScaleRow.ForkFlat => started(load.items)(i => ZIO.succeed(i.toLong))
    case ScaleRow.ForkTree => fibonacci(load.each)
    case ScaleRow.Yields => each(load)(ZIO.yieldNow)
    case ScaleRow.QueueOne | ScaleRow.QueueMany =>
      Queue
        .bounded[Int](load.capacity)
        .flatMap(queue => through(List.fill(load.fibers)(queue), load))
    case ScaleRow.QueuePairs =>
      ZIO
        .foreach(List.range(0, load.fibers))(_ => Queue.bounded[Int](load.capacity))
        .flatMap(through(_, load))
    case ScaleRow.TimersSet =>
      each(load)(ZIO.yieldNow.timeoutFail(IllegalStateException("late"))(1.minute))
    case ScaleRow.TimersRing => each(load)(ZIO.sleep(1.milli))
    case ScaleRow.Semaphore =>
      Semaphore
        .make(load.permits)
        .flatMap(semaphore => each(load)(semaphore.withPermit(ZIO.yieldNow)))
    case ScaleRow.Mutex =>
      Semaphore
        .make(1)
        .flatMap: semaphore =>
          var sum = 0L
          each(load)(semaphore.withPermit(ZIO.succeed(sum += 1))) *> ZIO.succeed(sum)
    case ScaleRow.Sleeping =>
      started(load.items)(_ => ZIO.sleep(zio.Duration.fromScala(load.sleep)).as(1L))

  private def gathers(load: Load): PartialFunction[ScaleRow, Effect] =
    case ScaleRow.GatherReady | ScaleRow.GatherWork =>
      gather(load)(i => ZIO.succeed(load.compute(i)))
    case ScaleRow.GatherForked => gather(load)(i => ZIO.yieldNow *> ZIO.succeed(i))
    case ScaleRow.Blocking =>
      gather(load): _ =>
        ZIO.attemptBlocking:
          Thread.sleep(1)
          1

  private def streams(load: Load): PartialFunction[ScaleRow, Effect] =
    case ScaleRow.ParEvalMap0 | ScaleRow.ParEvalMap1 | ScaleRow.ParEvalMap10 =>
      ZStream
        .fromIterable(load.items)
        .mapZIOPar(load.parallelism)(i => ZIO.succeed(load.compute(i)))
        .runFold(0L)(_ + _)
    case ScaleRow.Merge => ZStream.mergeAllUnbounded()(sources(load)*).runFold(0L)(_ + _)
    case ScaleRow.ParJoin =>
      ZStream
        .fromIterable(sources(load))
        .flatMapPar(load.fibers)(identity)
        .runFold(0L)(_ + _)

  private def sources(load: Load): Vector[ZStream[Any, Nothing, Int]] =
    Vector.fill(load.fibers)(
      ZStream.fromIterable(load.items).mapZIO(i => ZIO.succeed(load.compute(i)))
    )

  private def gather(load: Load)(f: Int => ZIO[Any, Throwable, Int]): Effect =
    ZIO.foreachPar(load.items)(f).map(Rivals.total)

  /** Starts a fiber for each item, and returns the sum of the results. */
  private def started(items: List[Int])(f: Int => Effect): Effect =
    ZIO
      .foreach(items)(i => f(i).fork)
      .flatMap(ZIO.foreach(_)(_.join))
      .map(_.sum)

  /** Runs `step` in each fiber of `load` as often as it says, and counts. */
  private def each(load: Load)(step: ZIO[Any, Throwable, Unit]): Effect =
    def loop(done: Int): Effect =
      if done == load.each then ZIO.succeed(done) else step.flatMap(_ => loop(done + 1))
    started(List.range(0, load.fibers))(_ => loop(0))

  private def fibonacci(n: Int): UIO[Long] =
    if n < 2 then ZIO.succeed(n)
    else
      for
        fiber <- ZIO.suspendSucceed(fibonacci(n - 1)).fork
        right <- fibonacci(n - 2)
        left <- fiber.join
      yield left + right

  private def through(queues: List[Queue[Int]], load: Load): Effect =
    def produce(queue: Queue[Int], left: Int): UIO[Unit] =
      if left == 0 then ZIO.unit
      else queue.offer(left - 1).flatMap(_ => produce(queue, left - 1))
    def consume(queue: Queue[Int], left: Int, sum: Long): UIO[Long] =
      if left == 0 then ZIO.succeed(sum)
      else queue.take.flatMap(n => consume(queue, left - 1, sum + n))
    for
      producers <- ZIO.foreach(queues)(produce(_, load.each).fork)
      consumers <- ZIO.foreach(queues)(consume(_, load.each, 0).fork)
      _ <- ZIO.foreachDiscard(producers)(_.join)
      sums <- ZIO.foreach(consumers)(_.join)
    yield sums.sum

  private def calls(load: Load): () => Long =
    val call = ZIO.yieldNow.as(1L)
    () =>
      ScaleSystem.onPlatformThreads(load.fibers): () =>
        var sum = 0L
        for _ <- load.items do sum += Rivals.runZio(call)
        sum
