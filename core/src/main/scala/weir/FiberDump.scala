package weir

import weir.trace.{DumpText, Snapshot}

/** The state of all fibers of a runtime when `WeirRuntime.fiberDump` was called. `toString` is its
  * text.
  *
  * The runtime continues while the dump is made. The entry of one fiber shows one moment. The
  * entries of two fibers may show two different moments.
  *
  * @param fibers the fibers that have begun and not ended. A fiber that waits for an object that no
  *   code can reach any more is missing once it has been garbage collected.
  * @param cycles the names of fibers of which each waits for the next, and the last for the first
  */
final class FiberDump private[weir] (
    val fibers: Vector[FiberDump.Entry],
    val cycles: Vector[Vector[String]]
):
  override def toString: String = DumpText(this)

object FiberDump:

  /** The state of a fiber. */
  enum State:
    /** Its thread runs its code. */
    case Running

    /** Its code has called a method that blocks its thread. The thread occupies no carrier
      * meanwhile.
      */
    case Blocked

    /** It can run, and waits for a carrier. */
    case Queued

    /** It waits, and occupies no thread. */
    case Waiting

    /** It waits in direct style or inside of a stream, and its thread is parked. */
    case Awaiting

  /** One fiber.
    *
    * @param fiber its name, as in the stack traces of errors
    * @param sinceNanos the time for which it has waited, blocked or run, in nanoseconds, to within
    *   a second; -1 if that is not known
    * @param awaits a description of what it waits for; empty if it does not wait, or if that cannot
    *   be described
    * @param holders the names of the fibers that must act before the wait can end, if they are
    *   known
    * @param thread the thread that it occupies; empty if none
    * @param trace the user's lines: the line that its thread is at, then the lines that wait for
    *   the result
    * @param started the line at which the fiber that has started this one continued; known only for
    *   a fiber without lines of the user, such as that of `queue.take.start`
    */
  final case class Entry private[weir] (
      fiber: String,
      state: State,
      sinceNanos: Long,
      awaits: String,
      holders: Vector[String],
      thread: String,
      trace: Vector[StackTraceElement],
      started: Option[StackTraceElement]
  )(
      /** False if a fiber that is not among the holders may have a permit. */
      val areAllHolders: Boolean
  )

  private[weir] def of(runtime: WeirRuntime): FiberDump = Snapshot(runtime)
