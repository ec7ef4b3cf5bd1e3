package weir.bench.explore

import java.time.Duration
import java.util.concurrent.atomic.AtomicReference
import weir.testkit.bugs.KnownBug

/** Runs the threads of a known bug that is plain code, and the check after their end. */
private object ThreadRuns:
  /** Fails with the error of the first thread that has failed, with that of the check, or if a
    * thread has not ended after `limitMillis`; 0 is without a limit.
    */
  def once(program: KnownBug.Program, limitMillis: Long = 0): Unit =
    val failure = AtomicReference[Throwable]()
    val bodies = program.threads.toArray
    val threads = new Array[Thread](bodies.length)
    var i = 0
    while i < bodies.length do
      val body = bodies(i)
      threads(i) = Thread(() =>
        try body()
        catch case error: Throwable => failure.compareAndSet(null, error): Unit
      )
      threads(i).setDaemon(true)
      i += 1
    threads.foreach(_.start())
    i = 0
    while i < threads.length do
      if limitMillis == 0 then threads(i).join() // Lincheck sees no other `join`
      else if !threads(i).join(Duration.ofMillis(limitMillis)) then
        throw AssertionError(s"A thread has not ended after $limitMillis ms.")
      i += 1
    if failure.get != null then throw failure.get
    program.after()
