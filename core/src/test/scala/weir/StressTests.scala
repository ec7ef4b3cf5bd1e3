package weir

import java.util.concurrent.ConcurrentLinkedQueue
import scala.concurrent.duration.*

/** The shared parts of stress suites: a seed, which is printed and can be given again, and a time.
  */
trait StressTests extends StreamTests:
  /** The time for which each test runs. */
  val time: FiniteDuration =
    val seconds = Integer.getInteger("weir.stress.seconds")
    if seconds != null then seconds.intValue.seconds else Tier(400.millis, 30.seconds)

  override def limit: FiniteDuration = 20.seconds + time

  /** A test that is given a seed, and when to stop. */
  def stress(name: String)(body: (Long, Deadline) => Unit): Unit = test(name):
    val seed = Tier.seed("weir.stress.seed")
    println(s"${getClass.getSimpleName}: -Dweir.stress.seed=$seed")
    try body(seed, time.fromNow)
    catch case e: munit.FailException => fail(s"-Dweir.stress.seed=$seed: ${e.getMessage}", e)

  /** Runs all of `bodies` at once, each on a thread. Fails with the error of the first of them that
    * fails.
    */
  def together(bodies: Seq[() => Unit]): Unit =
    val errors = ConcurrentLinkedQueue[Throwable]()
    val threads = bodies.map { body =>
      Thread.ofPlatform().daemon().start { () =>
        try body()
        catch case error: Throwable => errors.add(error): Unit
      }
    }
    threads.foreach(_.join())
    val first = errors.poll()
    if first != null then throw first
