package weir.cli

import java.util.concurrent.atomic.AtomicInteger

import sun.misc.Signal

/** Ctrl-C and a polite kill: the first asks the run to stop, the second ends the process at once. */
final class Interrupts private (previous: Map[Signal, sun.misc.SignalHandler]):
  /** Gives the signals back to those who handled them before. */
  def close(): Unit = previous.foreach((signal, handler) => Signal.handle(signal, handler))

object Interrupts:
  /** Runs `stop` with the exit code that the first signal calls for: 130 for Ctrl-C, 143 for a kill. */
  def handle(stop: Int => Unit): Interrupts =
    val count = AtomicInteger()
    val previous = List("INT", "TERM").map: name =>
      val signal = Signal(name)
      val code = 128 + signal.getNumber
      signal -> Signal.handle(
        signal,
        _ => if count.getAndIncrement() == 0 then stop(code) else Runtime.getRuntime.halt(code)
      )
    Interrupts(previous.toMap)
