package weir

import weir.trace.{DumpText, Snapshot}

/** What all fibers of a runtime were doing at one moment, as `Runtime.fiberDump` has seen it. `toString` is the text of it.
  *
  * The runtime is not stopped for it: what is said of one fiber was so at one time, of two perhaps at two times.
  *
  * @param fibers those that have begun and not ended. One that waits for what nobody can reach any more is missing as soon as
  *   the garbage collector has taken it.
  * @param cycles the names of fibers each of which waits for the next, and the last for the first
  */
final class FiberDump private[weir] (
    val fibers: Vector[FiberDump.Entry],
    val cycles: Vector[Vector[String]]
):
  override def toString: String = DumpText(this)

object FiberDump:

  /** What a fiber is doing. */
  enum State:
    /** Its thread runs its code. */
    case Running

    /** Its code has called something that blocks its thread, which holds no carrier meanwhile. */
    case Blocked

    /** It could run, and waits for a carrier. */
    case Queued

    /** It waits, and holds no thread. */
    case Waiting

    /** It waits in direct style, or inside of a stream, where its thread is parked. */
    case Awaiting

  /** One fiber.
    *
    * @param fiber its name, as in the stack traces of errors
    * @param sinceNanos for how long it has been waiting, blocked or running: in nanoseconds, to within a second; -1 where it
    *   is not known
    * @param awaits what it waits for; empty where it does not wait, or where that does not say what it is
    * @param holders the names of the fibers that must act before the wait can end, where they are known
    * @param thread the thread that it holds; empty if none
    * @param trace the user's lines: where its thread stands, then what waits for the result
    */
  final case class Entry private[weir] (
      fiber: String,
      state: State,
      sinceNanos: Long,
      awaits: String,
      holders: Vector[String],
      thread: String,
      trace: Vector[StackTraceElement]
  )

  private[weir] def of(runtime: Runtime): FiberDump = Snapshot(runtime)
