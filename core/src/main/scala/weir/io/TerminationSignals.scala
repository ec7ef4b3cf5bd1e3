package weir.io

import sun.misc.{Signal, SignalHandler}

/** The signals that ask a process to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP. A [[weir.WeirApp]]
  * handles them by itself. This is for other programs, such as those that go on after their task.
  */
object TerminationSignals:

  /** Calls `handler` for each signal that arrives, on a new thread each time: with the name of the
    * signal, such as `SIGINT`, and with the exit code that shells expect after it, such as 130. To
    * close what it returns installs the handlers that were there before.
    *
    * A signal that the parent process has told this one to ignore, as `nohup` does, stays ignored.
    * A system that lacks one of them, such as Windows SIGHUP, has the others.
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
