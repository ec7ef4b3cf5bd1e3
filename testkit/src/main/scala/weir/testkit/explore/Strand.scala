package weir.testkit.explore

import weir.fiber.FiberCore
import weir.runtime.{Alarm, Job}

/** A strand takes steps in an explored program: it is a fiber, a thread that a fiber has started,
  * an alarm that is due, or the action that disturbs the program. Each runs on a virtual thread, so
  * that it can wait for a lock. Only the strand that moves the clock has none.
  *
  * `id` counts the strands of a run in the order in which they were made. `clock` has, for each
  * strand, the number of the last of its steps that must come before the next step of this one.
  */
private[explore] final class Strand(val id: Int, val creator: Strand | Null, var clock: Array[Int]):
  var state: Int = Strand.Blocked

  /** The fiber, alarm or thread that it is: the others are null. */
  var fiber: FiberCore | Null = null
  var alarm: Alarm | Null = null
  var ownThread: Mount | Null = null

  /** The fiber's next slice, while that is queued. For an alarm, or the strand that disturbs the
    * program: its action, until that begins.
    */
  var job: Job | Null = null

  /** The thread that it has not left; null for a fiber that is queued or suspended. */
  var mount: Mount | Null = null

  /** The monitor that it waits to enter; null for none. */
  var wants: AnyRef | Null = null

  /** The clock before the present step. */
  var before: Array[Int] = clock

  /** True if it runs the code that an error disturbs: see `TestRuntime.failEverywhere`. */
  var isDisturbed = false

  /** True if an instruction of this library has begun, and has touched nothing yet. */
  var isFresh = false

  /** True if user's code or an instruction has ended, and the library has not touched anything
    * since.
    */
  var hasEnded = false

  /** The monitor in whose `wait` it is; null for none. */
  var awaits: AnyRef | Null = null

  /** True if its alarm was removed when it was due, and does not ring any more. */
  var isRemoved = false

  /** The object that it has touched last. */
  var latest: SharedObject | Null = null
  var latestField = ""

  /** True if its thread waits in the JDK's code. That code continues with the object that it has
    * touched last, such as a lock, without a further call.
    */
  var isInJdk = false

  /** The instruction that it runs, for the story. */
  var instruction: AnyRef | Null = null

  /** The present step. */
  var step: Step | Null = null

  /** Joins `other` into the clock. Must not be called while a step of this strand runs. */
  def after(other: Array[Int]): Unit =
    val longer = java.util.Arrays.copyOf(clock, math.max(clock.length, other.length))
    Clocks.join(longer, other)
    clock = longer

private[explore] object Strand:
  /** Waits, or has not been queued yet. */
  inline val Blocked = 0

  /** Can run, unless it wants a monitor that another strand has. */
  inline val Ready = 1
  inline val Running = 2
  inline val Ended = 3

/** One step of a strand: its actions from one choice to the next. */
private[explore] final class Step(val index: Int, val strand: Strand, val clock: Array[Int]):
  /** The number of accesses to shared objects that it has made. */
  var touches = 0

/** Vector clocks: for each strand the number of a step of it, counted from 1. */
private[explore] object Clocks:
  def join(into: Array[Int], other: Array[Int]): Unit =
    var i = 0
    while i < other.length do
      if other(i) > into(i) then into(i) = other(i)
      i += 1

  /** Returns true if `step` comes before a step with `clock`. */
  def isBefore(step: Step, clock: Array[Int]): Boolean =
    val id = step.strand.id
    id < clock.length && clock(id) > step.index

/** A virtual thread of an explored program. It goes on when its `continuation` is run. */
private[explore] final class Mount(val continuation: Runnable, val thread: Thread, val run: Long):
  /** The worker whose thread this is; null for a thread of the user's. */
  var worker: ExploreWorker | Null = null

  /** The strand that it runs at present. */
  var strand: Strand | Null = null
