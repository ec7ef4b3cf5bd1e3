package weir

import java.util.concurrent.{CountDownLatch, TimeUnit}

/** What `FairnessSuite` runs in a JVM that has one carrier: endless fibers, and virtual threads of
  * the user's that want in.
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
