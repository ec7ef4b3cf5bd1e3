package weir.app

import sun.misc.{Signal, SignalHandler}

/** The signals that ask a process to end: SIGINT (Ctrl-C), SIGTERM, SIGHUP. */
private[weir] final class Signals private (previous: Seq[(Signal, SignalHandler)]):

  /** Installs the handlers again that were there before. */
  def close(): Unit = previous.foreach((signal, handler) => Signal.handle(signal, handler))

private[weir] object Signals:

  /** Calls `handler` with the name of each signal that arrives and the exit code for it, such as
    * 130 for SIGINT, on a new thread each time. A signal that the parent process has told this one
    * to ignore, as `nohup` does, stays ignored.
    */
  def handle(handler: (String, Int) => Unit): Signals =
    Signals(List("INT", "TERM", "HUP").flatMap { name =>
      try
        val signal = Signal(name)
        val code = 128 + signal.getNumber
        Some(signal -> Signal.handle(signal, _ => handler(s"SIG$name", code)))
      catch case _: IllegalArgumentException => None // not there, or kept by the JVM: java -Xrs
    })
