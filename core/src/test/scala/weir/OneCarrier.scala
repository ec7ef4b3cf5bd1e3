package weir

import java.util.concurrent.{ArrayBlockingQueue, CountDownLatch}
import weir.runtime.Scheduler

/** The program that `BlockingSuite` runs in a JVM with one carrier. */
object OneCarrier:
  def main(args: Array[String]): Unit =
    println(s"carriers ${Scheduler.carriersOfThisJvm}")
    val consumers = 10
    val queue = ArrayBlockingQueue[Int](1)
    val waiting = CountDownLatch(consumers)
    val consumer = Task {
      waiting.countDown()
      Iterator.continually(queue.take()).takeWhile(_ >= 0).sum
    }
    val fibers = List.fill(consumers)(consumer.start.runSync())
    waiting.await()
    val producer = Task {
      for i <- 1 to 1000 do queue.put(i)
      for _ <- 1 to consumers do queue.put(-1)
    }
    producer.start.flatMap(_.joinOrFail).runSync()
    println(s"consumers $consumers sum ${fibers.map(_.joinOrFail.runSync()).sum}")
    println(s"deep ${Task(deep(1000)).start.flatMap(_.joinOrFail).runSync()}")
    println(s"wide ${Task.parTraverse(1 to 1000)(_ => Task(deep(2))).runSync().size}")

  /** Nested, each level started on a fiber of its own, which its parent blocks for. */
  private def deep(n: Int): Int =
    if n == 0 then 0 else Task.cede.andThen(Task(deep(n - 1) + 1)).runSync()
