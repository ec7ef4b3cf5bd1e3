package weir.cli

import sun.misc.{Signal, SignalHandler}

/** The signals that ask a process to end: SIGINT, SIGTERM and SIGHUP. */
private[cli] final class Signals private (previous: Seq[(Signal, SignalHandler)]):

  /** Gives the signals back to the handlers that they had before. */
  def close(): Unit = previous.foreach((signal, handler) => Signal.handle(signal, handler))

private[cli] object Signals:

  /** Calls `handler` for each signal that arrives, each time on a new thread, with the exit code
    * that shells expect, such as 130 for SIGINT. A signal that the parent process has told this one
    * to ignore, as `nohup` does, stays ignored.
    */
  def handle(handler: Int => Unit): Signals =
    Signals(List("INT", "TERM", "HUP").flatMap { name =>
      try
        val signal = Signal(name)
        val code = 128 + signal.getNumber
        Some(signal -> Signal.handle(signal, _ => handler(code)))
      catch case _: IllegalArgumentException => None // unknown, or kept by the JVM: java -Xrs
    })
