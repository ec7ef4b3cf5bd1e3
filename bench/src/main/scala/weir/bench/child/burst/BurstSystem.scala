package weir.bench.child.burst

import java.util.UUID

/** What each system does in a burst; every method returns how many calls it has made. */
trait BurstSystem:
  /** `fibers` fibers, each of which runs an effect to its end `calls` times, from inside an effect.
    *
    * The inner effect makes a random UUID, as in the published source. If `yields`, it first lets
    * others run, so that it cannot end on the spot.
    */
  def nested(fibers: Int, calls: Int, yields: Boolean): Long

  /** `fibers` fibers that each block their thread for `millis`, as the system's documentation says
    * that blocking code is to be run.
    */
  def blocked(fibers: Int, millis: Long): Long

object BurstSystem:
  /** The system by its name. */
  def of(name: String): BurstSystem = name match
    case "weir" => OnWeir
    case "cats-effect" => OnCatsEffect.onItsPool
    case "cats-effect-vt" => OnCatsEffect.onVirtualThreads
    case "zio" => OnZio
    case "virtual-threads" => OnVirtualThreads
    case other => throw IllegalArgumentException(s"burst does not run on '$other'")

  /** The work of the inner effect. */
  private[burst] def randomId(): UUID = UUID.randomUUID()

  /** One call made, if its result is what it must be. */
  private[burst] def count(id: UUID): Long = if id.version == 4 then 1 else 0

  /** A blocking call, which counts as one. */
  private[burst] def block(millis: Long): Long =
    Thread.sleep(millis)
    1
