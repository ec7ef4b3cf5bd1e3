import java.lang.management.ManagementFactory
import scala.concurrent.duration.*
import weir.*

object Sleepers:
  def main(args: Array[String]): Unit =
    // Blocks its thread, as JDBC, a socket or a lock would. On Weir that is fine everywhere.
    def call(id: Int): Task[Int] = Task {
      Thread.sleep(1000)
      id
    }
    val all: Task[Seq[Int]] = Task.parTraverse(1 to 100_000)(call).timeout(1.minute)
    val started = System.nanoTime()
    val sum = all.runSync().map(_.toLong).sum
    val threads = ManagementFactory.getThreadMXBean.getPeakThreadCount
    println(s"$sum in ${(System.nanoTime() - started) / 1_000_000} ms on $threads OS threads")
