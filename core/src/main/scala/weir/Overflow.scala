package weir

import scala.concurrent.duration.FiniteDuration

/** The rule for an element that arrives while a buffer is full and its producer does not wait, in
  * `Stream.buffer` and `Stream.async`.
  */
enum Overflow:
  /** Drops the oldest element of the buffer, and keeps the new one. */
  case DropOldest

  /** Drops the new element. */
  case DropNewest

  /** Drops the new element and fails the stream with `BufferOverflow`, after the elements in the
    * buffer.
    */
  case Fail

/** The error of a stream whose buffer is full under `Overflow.Fail`. */
final class BufferOverflow private[weir] (operator: String, size: Int)
    extends RuntimeException(
      s"$operator: an element came while the buffer of $size elements was full. Use a larger " +
        "buffer, a faster consumer, or an Overflow that drops elements."
    )

/** The error of `Stream.throttleEnforcing` for an element that arrives too early. */
final class RateExceeded private[weir] (count: Int, per: FiniteDuration, burst: Int)
    extends RuntimeException(
      s"Stream.throttleEnforcing: an element exceeded the rate of $count in $per with a burst " +
        s"of $burst. To delay such elements, use Stream.throttle."
    )
