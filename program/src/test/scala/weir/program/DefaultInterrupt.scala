package weir.program

import java.lang.foreign.ValueLayout.{ADDRESS, JAVA_INT}
import java.lang.foreign.{Arena, FunctionDescriptor, Linker, MemorySegment}
import java.lang.invoke.MethodHandle

/** Starts processes with the default handling of SIGINT.
  *
  * A process that a shell has started in the background may ignore SIGINT, and so do its children:
  * a JVM that finds it ignored never handles it. Neither a shell nor `sun.misc.Signal` can change
  * that. The C library's `signal` can, for the time in which a child is started.
  */
private object DefaultInterrupt:
  private val sigInt = Integer.valueOf(2) // on Linux, macOS and the BSDs
  private val byDefault = MemorySegment.NULL
  private val ignored = MemorySegment.ofAddress(1)

  /** More than a `struct sigaction` has anywhere; it begins with the handler. */
  private val actionBytes = 512L

  private val signal = function("signal", FunctionDescriptor.of(ADDRESS, JAVA_INT, ADDRESS))
  private val sigaction =
    function("sigaction", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS))

  private def function(name: String, types: FunctionDescriptor): MethodHandle =
    val linker = Linker.nativeLinker
    linker.downcallHandle(linker.defaultLookup.find(name).orElseThrow(), types)

  /** Runs `start`. Only one at a time, since it changes a setting of this process. */
  def during[A](start: => A): A = synchronized:
    if !isIgnored then start
    else
      set(byDefault)
      try start
      finally set(ignored)

  /** A handler of the JVM's own, which only `sigaction` could set again, is never touched. */
  private def isIgnored: Boolean =
    val arena = Arena.ofConfined()
    try
      val action = arena.allocate(actionBytes)
      sigaction.invokeWithArguments(sigInt, MemorySegment.NULL, action): Unit
      action.get(ADDRESS, 0).address == ignored.address
    finally arena.close()

  private def set(handler: MemorySegment): Unit = signal.invokeWithArguments(sigInt, handler): Unit
