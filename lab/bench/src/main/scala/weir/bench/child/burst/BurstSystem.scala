package weir.bench.child.burst

import java.util.UUID

/** The calls of one system in a burst. Every method returns the number of calls that it has made.
  */
trait BurstSystem:
  /** `fibers` fibers, each of which runs an effect to its end `calls` times, from inside an effect.
    */
  def nested(fibers: Int, calls: Int, inner: Inner): Long

  /** Runs `fibers` fibers that each block their thread for `millis`, in the way that the system's
    * documentation names for blocking code.
    */
  def blocked(fibers: Int, millis: Long): Long

object BurstSystem:
  /** Returns the system by its name. */
  def of(name: String): BurstSystem = name match
    case "weir" => OnWeir
    case "cats-effect" => OnCatsEffect.onItsPool
    case "cats-effect-vt" => OnCatsEffect.onVirtualThreads
    case "zio" => OnZio
    case "virtual-threads" => OnVirtualThreads
    case other => throw IllegalArgumentException(s"burst does not run on '$other'")

  /** A blocking call, which counts as one. */
  private[burst] def block(millis: Long): Long =
    Thread.sleep(millis)
    1

/** The inner effect; its result counts as one call. */
enum Inner(val name: String, val yields: Boolean):
  /** Next to nothing, so that only the nesting is measured. */
  case Ready extends Inner("nested runSync", false)

  /** The same, after it has let others run, so that it cannot end on the spot. */
  case Yielding extends Inner("nested runSync, yielding", true)

  /** The effect of the published source. The JDK's secure random numbers have a lock that all
    * threads share.
    */
  case Uuid extends Inner("nested runSync, UUID", false)

  def work(): Long = if this == Uuid && UUID.randomUUID().version != 4 then 0 else 1
