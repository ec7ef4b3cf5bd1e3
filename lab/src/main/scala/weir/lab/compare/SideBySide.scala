package weir.lab.compare

import java.util.concurrent.{Callable, ExecutionException, Executors, TimeUnit, TimeoutException}
import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters.*

/** Runs ways on loads side by side, each called on a thread of its own, and reports their progress.
  */
final class SideBySide(contestant: Contestant, tasksPerLetter: Int, listener: SideBySide.Listener):
  import SideBySide.*

  /** Runs every way that does not hang again and again for a time, with delays next to none. */
  def warmUp(ways: Seq[Way], time: FiniteDuration): Unit =
    val plan = Plan.of(Load.Balanced, seed = 0, speed = warmUpSpeed)
    val end = System.nanoTime() + time.toNanos
    while System.nanoTime() - end < 0 do
      calls(ways.filterNot(contestant.mayHang)): way =>
        contestant.run(way, plan, Course(plan, tasksPerLetter))

  /** The ways of a load run at the same time. Of the loads, the longest runs beside the others,
    * which run one after the other: that takes no longer than all at once, and is less to do at a
    * time.
    *
    * **Waits** until all have ended or have been given up.
    */
  def run(loads: Seq[Load], ways: Seq[Way], plan: Load => Plan): Unit =
    val runs = loads.map: load =>
      val loadPlan = plan(load)
      ways.map(Run(load, _, loadPlan))
    val ticker = Thread.startVirtualThread(() => tick(runs.flatten))
    val (longest, others) = loads.zip(runs).partition(_._1 == Load.Balanced)
    try calls(Seq(longest, others))(_.foreach((_, ways) => calls(ways)(_.measure())))
    finally
      ticker.interrupt()
      ticker.join()

  private def tick(runs: Seq[Run]): Unit =
    try
      while true do
        Thread.sleep(tickMillis)
        runs.foreach(_.show())
    catch case _: InterruptedException => ()

  private final class Run(load: Load, way: Way, plan: Plan):
    private val course = Course(plan, tasksPerLetter)
    private val deadline = way.deadlineNanos(plan) // now: it takes milliseconds to compute
    private val place = Place(load, way, contestant.system(way))
    private var shown = ""

    def show(): Unit = synchronized:
      val letters = course.letters
      if letters != shown then
        shown = letters
        listener.progress(place, letters)

    /** When it ended. */
    private def timed: Callable[Long] = () =>
      contestant.run(way, plan, course)
      System.nanoTime()

    def measure(): Unit =
      val caller = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory())
      val start = System.nanoTime()
      val call = caller.submit(timed)
      try
        val end = call.get(deadline, TimeUnit.NANOSECONDS)
        show()
        course.mistake match
          case None => listener.ended(place, (end - start) / 1e6)
          case Some(mistake) => listener.failed(place, mistake)
      catch
        case _: TimeoutException =>
          val seconds = (System.nanoTime() - start) / 1e9
          listener.hung(place, f"hangs: after $seconds%.1f s ${course.progress}")
        case error: ExecutionException => listener.failed(place, error.getCause.toString)
      finally
        val _ = caller.shutdownNow() // interrupts the call, if it still runs

object SideBySide:
  /** The place of a figure in the table. */
  final case class Place(load: Load, way: Way, system: String):
    /** Returns the name of the case, as results have it. */
    def name: String = s"${load.name}: ${way.name}"

  trait Listener:
    /** All letters of the course so far. */
    def progress(place: Place, letters: String): Unit
    def ended(place: Place, millis: Double): Unit
    def failed(place: Place, why: String): Unit

    /** It was given up at its deadline. */
    def hung(place: Place, why: String): Unit

  /** Calls `f` of all `items` at once. **Waits** for all. **Fails** if one of them does. */
  private def calls[A](items: Seq[A])(f: A => Unit): Unit =
    val executor = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().factory())
    try
      executor
        .invokeAll(items.map(item => (() => f(item)): Callable[Unit]).asJava)
        .forEach(_.get())
    finally executor.close()

  private val tickMillis = 100L
  private val warmUpSpeed = 500.0
