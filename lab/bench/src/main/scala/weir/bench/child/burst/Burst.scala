package weir.bench.child.burst

import weir.lab.{ChildOutput, Experiment, Harness}
import weir.program.Result

/** Measures bursts of calls that block: their time, and the number of OS threads.
  *
  * A part has a JVM of its own, since some systems keep the threads of one burst for the next:
  *   - `nested`: growing numbers of fibers that run effects from inside of effects;
  *   - `blocked`: growing numbers of fibers that block for a moment;
  *   - `bursts`: bursts of the latter, with pauses between them.
  */
object Burst extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val watch = Watch.start()
    try
      out.event(ujson.Obj("baseLine" -> watch.baseLine))
      val part = Part(BurstSystem.of(system), system, options, watch, out)
      options.text("part") match
        case "nested" => part.nested()
        case "blocked" => part.blocked()
        case "bursts" => part.bursts()
        case other => throw IllegalArgumentException(s"burst has no part '$other'")
    finally watch.close()

  private final class Part(
      burst: BurstSystem,
      system: String,
      options: Experiment.Options,
      watch: Watch,
      out: ChildOutput
  ):
    private val calls = options.int("calls")
    private val blockMillis = options.long("blockMillis")
    private val caseMillis = options.long("caseMillis")
    private val warmUpMillis = options.long("warmUpMillis")
    private var isWarm = false

    def nested(): Unit =
      for
        inner <- Inner.values
        fibers <- sizes(inner.toString.toLowerCase)
      do
        repeated(s"${inner.name}: $fibers", fibers.toLong * calls):
          burst.nested(fibers, calls, inner)

    def blocked(): Unit =
      for fibers <- sizes("fibers") do
        repeated(s"blocked $blockMillis ms: $fibers", fibers):
          burst.blocked(fibers, blockMillis)

    /** Runs bursts with pauses. The warm-up has few fibers, so that the first burst is a real one.
      * Reports the memory and threads that are kept in the pauses.
      */
    def bursts(): Unit =
      val fibers = options.int("fibers")
      def once(): Double = checked(s"bursts: $fibers", fibers)(burst.blocked(fibers, blockMillis))
      val start = System.nanoTime()
      while millisSince(start) < warmUpMillis do burst.blocked(Burst.smallBurst, blockMillis): Unit
      report(s"bursts: $fibers, the first", watch.during(once()))
      def next(): Double =
        Thread.sleep(options.long("pauseMillis"))
        once()
      val later = Vector.fill(options.int("bursts"))(next())
      watch.during(next()): Unit
      report(s"bursts: $fibers, later", Harness.median(later))
      reportHeap(s"bursts: $fibers, later")(once())
      Thread.sleep(options.long("pauseMillis"))
      val kept = (OsThreads.count() - watch.baseLine).toDouble
      out.result(Result(s"bursts: $fibers, then quiet", system, kept, "threads", Result.lower))

    /** Warms up, measures, and reports the median. Threads are counted in further rounds. A JVM's
      * first case is warmed up for twice as long: the compiler begins with it, and takes 5 s on two
      * cores for 10,000 blocking tasks on Weir, 2 s for bare virtual threads.
      */
    private def repeated(name: String, expected: Long)(run: => Long): Unit =
      val millis = if isWarm then warmUpMillis else warmUpMillis * 2
      val start = System.nanoTime()
      while millisSince(start) < millis do checked(name, expected)(run): Unit
      isWarm = true
      val times = rounds(caseMillis)(checked(name, expected)(run))
      watch.during(rounds(caseMillis / 4)(checked(name, expected)(run))): Unit
      report(name, Harness.median(times))
      reportHeap(name)(run)

    /** Runs `once` for `millis`, at least a few times, and returns its results. */
    private def rounds(millis: Long)(once: => Double): Vector[Double] =
      val results = Vector.newBuilder[Double]
      val start = System.nanoTime()
      var rounds = 0
      while rounds < Burst.fewestRounds || millisSince(start) < millis do
        results += once
        rounds += 1
      results.result()

    private def report(name: String, millis: Double): Unit =
      val threads = (watch.peakThreads - watch.baseLine).toDouble
      out.result(Result.millis(name, system, millis))
      out.result(Result(name, system, threads, "threads", Result.lower))

    /** Measured apart, since collecting takes time. */
    private def reportHeap(name: String)(run: => Any): Unit =
      out.result(Result(name, system, LiveHeap.peakBytes(run) / 1e6, "MB", Result.lower))

    /** Returns the milliseconds that `run` takes. **Fails** if it does not return `expected`. */
    private def checked(name: String, expected: Long)(run: => Long): Double =
      val start = System.nanoTime()
      val result = run
      val millis = (System.nanoTime() - start) / 1e6
      if result != expected then
        throw IllegalStateException(s"$name made $result calls, not $expected")
      millis

    private def sizes(key: String): Vector[Int] =
      options.text(key).split(",").toVector.filter(_.nonEmpty).map(_.toInt)

    private def millisSince(nanos: Long): Long = (System.nanoTime() - nanos) / 1_000_000

  private val fewestRounds = 3
  private val smallBurst = 10
