package weir

import java.util.concurrent.{CountDownLatch, TimeUnit}

/** The program that `FairnessSuite` runs in a JVM with one carrier: endless fibers, and virtual
  * threads of the user's that wait for their turn.
  */
object OneCarrierLoops:
  def main(args: Array[String]): Unit =
    def loop(n: Int): Task[Int] = Task.pure(n + 1).flatMap(loop)
    val begun = CountDownLatch(2)
    for _ <- 1 to 2 do Task(begun.countDown()).andThen(loop(0)).start.runSync(): Unit
    begun.await()
    val ran = LazyList.continually {
      val ran = CountDownLatch(1)
      Thread.startVirtualThread(() => ran.countDown()): Unit
      ran.await(5, TimeUnit.SECONDS)
    }
    println(s"ran ${ran.take(100).takeWhile(identity).size}")
