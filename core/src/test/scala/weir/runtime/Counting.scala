package weir.runtime

import scala.concurrent.duration.*
import weir.{Ref, Task, WeirRuntime}

/** The program that `CountersSuite` runs in a JVM of its own: prints the counts before and after a
  * `reset`.
  */
object Counting:
  def main(args: Array[String]): Unit =
    val ref = Ref.unsafe(0)
    val child = Task.cede >> ref.update(_ + 1) >> Task.sleep(1.milli)
    Task.parTraverse(1 to 100)(_ => child.timeout(1.hour)).void.runSync()
    println(Counters.snapshot.mkString(", "))
    while !WeirRuntime.default.isQuiet do Thread.sleep(1)
    Counters.reset()
    println(s"after a reset: ${Counters.snapshot.toList}")
