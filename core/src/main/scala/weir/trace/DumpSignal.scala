package weir.trace

import sun.misc.Signal
import weir.WeirRuntime

/** Prints a fiber dump when the process receives a signal. */
private[weir] object DumpSignal:

  def install(runtime: WeirRuntime, signal: String): Unit =
    Signal.handle(Signal(signal), _ => System.err.println(runtime.dump())): Unit

  /** Installs the signal of `-Dweir.dump.signal=USR2`, if it is set. */
  def installAsAsked(runtime: WeirRuntime): Unit =
    val signal = System.getProperty("weir.dump.signal")
    if signal ne null then install(runtime, signal)
