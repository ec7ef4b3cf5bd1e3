package weir

import scala.concurrent.duration.FiniteDuration

/** What becomes of an element that comes while a buffer is full, whose producer does not wait:
  * `Stream.buffer`, `Stream.async`.
  */
enum Overflow:
  /** The oldest element of the buffer is dropped for it. */
  case DropOldest

  /** It is dropped. */
  case DropNewest

  /** It is dropped, and the stream fails with `BufferOverflow` after what is in the buffer. */
  case Fail

/** The error of `Overflow.Fail`. */
final class BufferOverflow private[weir] (operator: String, size: Int)
    extends RuntimeException(
      s"$operator: an element came while the buffer of $size was full. Give it a larger buffer, " +
        "a faster consumer, or an overflow that drops elements."
    )

/** The error of `Stream.throttleEnforcing`. */
final class RateExceeded private[weir] (count: Int, per: FiniteDuration, burst: Int)
    extends RuntimeException(
      s"Stream.throttleEnforcing: an element came earlier than at $count in $per, with a burst " +
        s"of $burst. To have it wait, use throttle."
    )
