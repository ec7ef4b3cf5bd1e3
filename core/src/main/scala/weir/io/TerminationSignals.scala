package weir.io

import sun.misc.{Signal, SignalHandler}

/** The signals that ask a process to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP. A [[weir.WeirApp]]
  * handles them by itself. This is for other programs, such as those that continue after their
  * task.
  */
object TerminationSignals:

  /** Calls `handler` for each signal that arrives, on a new thread each time: with the name of the
    * signal, such as `SIGINT`, and with the exit code that shells expect after it, such as 130.
    * Closing the result installs the previous handlers again.
    *
    * A signal that the parent process has set to be ignored, as `nohup` does, stays ignored. If a
    * system lacks one of the signals, as Windows lacks SIGHUP, only the others are handled.
    *
    * {{{
    * val end = Deferred.unsafe[Int]
    * val signals = TerminationSignals.handle((_, code) => end.complete(code).runSync(): Unit)
    * try Task.race(end.get, Task.sleep(1.hour)).runSync()
    * finally signals.close()
    * }}}
    */
  def handle(handler: (String, Int) => Unit): AutoCloseable =
    val previous = List("INT", "TERM", "HUP").flatMap { name =>
      try
        val signal = Signal(name)
        val code = 128 + signal.getNumber
        Some(signal -> Signal.handle(signal, _ => handler(s"SIG$name", code)))
      catch case _: IllegalArgumentException => None // not there, or kept by the JVM: java -Xrs
    }
    () => previous.foreach((signal, handler) => Signal.handle(signal, handler))
