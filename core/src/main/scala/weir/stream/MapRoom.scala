package weir.stream

/** The number of elements that a `parEvalMap` may still take, and of effects that may begin. Under
  * the lock of the stage.
  *
  * A finished effect frees its permit at once, even while the head of the order still runs.
  */
private[stream] final class MapRoom(var limit: Int, buffer: Int):
  private var demand = Long.MaxValue

  /** The number of elements that were taken, and that the consumer has not used up. */
  private var ahead = 0L

  /** The number of effects that have begun and not ended. */
  var inFlight = 0

  /** If there is no room ahead of the consumer, it requests a runner when it gives room back. */
  def isFree: Boolean =
    demand > 0 && inFlight < limit && ahead - buffer < limit // `limit + buffer` may overflow

  def atMost(count: Long): Unit = demand = math.min(demand, count)

  def take(): Unit = demand -= 1

  def add(begins: Boolean): Unit =
    ahead += 1
    if begins then inFlight += 1

  def ended(): Unit = inFlight -= 1

  def giveBack(used: Int): Unit = ahead -= used
