package weir.bench.child.highload

import java.util.concurrent.{
  ConcurrentLinkedQueue,
  Executors,
  ForkJoinPool,
  LinkedBlockingQueue,
  Semaphore
}
import java.util.concurrent.TimeUnit.DAYS

import weir.lab.compare.ShortTasks

/** The ways of the plain JDK. */
private[highload] object JdkHighLoad:
  /** No hand-over: each consumer has its share of the tasks from the beginning. */
  val work: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    inThreads(Thread.ofPlatform(), tasks.consumers) { consumer =>
      val first = share(tasks, consumer)
      val end = share(tasks, consumer + 1)
      var task = first
      while task < end do
        run.consume(task)
        task += 1
    }

  private def share(tasks: ShortTasks, consumer: Int): Int =
    (tasks.count.toLong * consumer / tasks.consumers).toInt

  /** A thread for the producer and for each consumer. */
  def blockingQueue(threads: Thread.Builder): (ShortTasks, ShortTasks#Run) => Unit =
    (tasks, run) =>
      val queue = LinkedBlockingQueue[Int](ShortTasks.capacity)
      inThreads(threads, tasks.consumers + 1) { thread =>
        if thread == 0 then
          for task <- 0 until tasks.count do queue.put(task)
          for _ <- 0 until tasks.consumers do queue.put(-1)
        else
          var task = queue.take()
          while task >= 0 do
            run.consume(task)
            task = queue.take()
      }

  /** JEP 444: a new virtual thread for each task, and a semaphore where their number is to be
    * limited.
    */
  val threadEach: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    val room = Semaphore(ShortTasks.capacity)
    val executor = Executors.newVirtualThreadPerTaskExecutor()
    try
      for task <- 0 until tasks.count do
        room.acquire()
        executor.execute { () =>
          try run.consume(task)
          finally room.release()
        }
    finally executor.close()

  /** With `asyncMode`, which its documentation has for tasks that are submitted and never joined.
    */
  val forkJoin: (ShortTasks, ShortTasks#Run) => Unit = (tasks, run) =>
    val pool = ForkJoinPool(
      tasks.consumers,
      ForkJoinPool.defaultForkJoinWorkerThreadFactory,
      null,
      true
    )
    for task <- 0 until tasks.count do pool.execute(() => run.consume(task))
    pool.shutdown()
    pool.awaitTermination(1, DAYS): Unit

  /** **Fails** with the first error of a thread.
    */
  private def inThreads(builder: Thread.Builder, count: Int)(body: Int => Unit): Unit =
    val errors = ConcurrentLinkedQueue[Throwable]()
    val threads = Vector.tabulate(count) { number =>
      builder.start { () =>
        try body(number)
        catch case error: Throwable => errors.add(error): Unit
      }
    }
    threads.foreach(_.join())
    Option(errors.peek()).foreach(throw _)
