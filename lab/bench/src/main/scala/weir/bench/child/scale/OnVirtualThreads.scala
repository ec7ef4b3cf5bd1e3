package weir.bench.child.scale

import java.util.concurrent.locks.ReentrantLock
import java.util.concurrent.{
  ArrayBlockingQueue,
  BlockingQueue,
  Callable,
  ExecutorService,
  Executors,
  Semaphore,
  TimeUnit
}
import java.util.stream.Gatherers
import scala.jdk.CollectionConverters.*

import weir.bench.Rivals
import weir.lab.scale.ScaleRow

/** Virtual threads as they are, with what java.util.concurrent has for threads. */
private[scale] object OnVirtualThreads extends ScaleSystem:
  def run(load: Load): Option[() => Long] = (threads(load) orElse gathers(load)).lift(load.row)

  private def threads(load: Load): PartialFunction[ScaleRow, () => Long] =
    case ScaleRow.ForkFlat => () => inOne(started(load.each)(i => i.toLong))
    case ScaleRow.ForkTree => () => inOne(fibonacci(load.each))
    case ScaleRow.Yields => () => each(load)(Thread.`yield`())
    case ScaleRow.QueueOne | ScaleRow.QueueMany =>
      () => through(Vector(ArrayBlockingQueue(load.capacity)), load)
    case ScaleRow.QueuePairs =>
      () => through(Vector.fill(load.fibers)(ArrayBlockingQueue(load.capacity)), load)
    case ScaleRow.TimersSet => () => limited(load)
    case ScaleRow.TimersRing => () => each(load)(Thread.sleep(1))
    case ScaleRow.Semaphore => () => permits(load)
    case ScaleRow.Mutex => () => locks(load)
    case ScaleRow.RunSync => () => calls(load)
    case ScaleRow.Sleeping =>
      () =>
        inOne:
          started(load.each): _ =>
            Thread.sleep(load.sleep.toMillis)
            1L

  private def gathers(load: Load): PartialFunction[ScaleRow, () => Long] =
    case ScaleRow.GatherReady | ScaleRow.GatherWork => gather(load)(load.compute)
    case ScaleRow.GatherForked =>
      gather(load): i =>
        Thread.`yield`()
        i
    case ScaleRow.Blocking =>
      gather(load): _ =>
        Thread.sleep(1)
        1
    case ScaleRow.ParEvalMap0 | ScaleRow.ParEvalMap1 | ScaleRow.ParEvalMap10 =>
      val items = load.items.asJava
      () =>
        items
          .stream()
          .gather(Gatherers.mapConcurrent(load.parallelism, load.compute(_)))
          .reduce(0L, _ + _, _ + _)

  private def gather(load: Load)(f: Int => Int): () => Long =
    val thunks = load.items.map(i => () => f(i)).toVector
    () => inOne(Rivals.threadEach(thunks))

  /** Runs `body` on a virtual thread, and returns its result. */
  private def inOne(body: => Long): Long =
    var result = 0L
    Thread.startVirtualThread(() => result = body).join()
    result

  /** Starts `count` virtual threads, and returns the sum of the results. */
  private def started(count: Int)(body: Int => Long): Long =
    val results = new Array[Long](count)
    val threads = Array.tabulate(count): i =>
      Thread.startVirtualThread(() => results(i) = body(i))
    threads.foreach(_.join())
    results.sum

  private def each(load: Load)(step: => Unit): Long =
    started(load.fibers)(_ => repeated(load)(step))

  private def repeated(load: Load)(step: => Unit): Long =
    var done = 0
    while done < load.each do
      step
      done += 1
    done

  private def fibonacci(n: Int): Long =
    if n < 2 then n
    else
      var left = 0L
      val thread = Thread.startVirtualThread(() => left = fibonacci(n - 1))
      val right = fibonacci(n - 2)
      thread.join()
      left + right

  /** A pair of threads for each queue; all pairs at the only one, if there is one. */
  private def through(queues: Vector[BlockingQueue[Int]], load: Load): Long =
    started(2 * load.fibers): i =>
      val queue = queues(i / 2 % queues.size)
      if i % 2 == 0 then produce(queue, load.each) else consume(queue, load.each)

  private def produce(queue: BlockingQueue[Int], count: Int): Long =
    var left = count
    while left > 0 do
      left -= 1
      queue.put(left)
    0

  private def consume(queue: BlockingQueue[Int], count: Int): Long =
    var sum = 0L
    var left = count
    while left > 0 do
      sum += queue.take()
      left -= 1
    sum

  private def limited(load: Load): Long =
    withExecutor: executor =>
      val yielding = (() => Thread.`yield`()): Runnable
      each(load)(executor.submit(yielding).get(1, TimeUnit.MINUTES): Unit)

  private def permits(load: Load): Long =
    val semaphore = Semaphore(load.permits)
    each(load):
      semaphore.acquire()
      try Thread.`yield`()
      finally semaphore.release()

  private def locks(load: Load): Long =
    val lock = ReentrantLock()
    var sum = 0L
    each(load) {
      lock.lock()
      try sum += 1
      finally lock.unlock()
    }: Unit
    sum

  private def calls(load: Load): Long =
    withExecutor: executor =>
      val call: Callable[Long] = () =>
        Thread.`yield`()
        1L
      ScaleSystem.onPlatformThreads(load.fibers): () =>
        var sum = 0L
        for _ <- load.items do sum += executor.submit(call).get
        sum

  private def withExecutor[A](use: ExecutorService => A): A =
    val executor = Executors.newVirtualThreadPerTaskExecutor()
    try use(executor)
    finally executor.close()
