package weir.trace

import scala.concurrent.duration.*
import weir.*

/** Prints the number of bytes of heap that a sleeping fiber takes, and one that waits for a
  * `Deferred`, each with all that belongs to it: stack, waiter, alarm, its places in the timer's
  * heap and in the fiber registry.
  */
object FiberHeap:
  private val count = Integer.getInteger("fibers", 200_000).intValue

  def main(args: Array[String]): Unit =
    val fibers = new Array[AnyRef](count)
    def bytesOf(what: String)(start: Int => Fiber[Any]): Unit =
      val before = Heap.used()
      for i <- 0 until count do fibers(i) = start(i)
      while !WeirRuntime.default.scheduler.isQuiet do Thread.sleep(10)
      println(s"$what ${(Heap.used() - before) / count}")
    val sleep = Task.sleep(1.hour).start
    bytesOf("sleeping")(_ => sleep.runSync())
    val goesOn = Task.sleep(1.hour).map(_ => 1).flatMap(Task.pure).start
    bytesOf("sleeping, to go on")(_ => goesOn.runSync())
    val never = Deferred.unsafe[Unit].get.start
    bytesOf("waiting")(_ => never.runSync())
