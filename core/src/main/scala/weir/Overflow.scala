package weir

import scala.concurrent.duration.FiniteDuration

/** What `Stream.buffer` does with an element for which it has no room. */
enum Overflow:
  /** The producer waits for room. */
  case Wait

  /** The oldest element of the buffer is dropped. */
  case DropOldest

  /** The element itself is dropped. */
  case DropNewest

  /** The stream fails with `BufferOverflow`. */
  case Fail

/** The error of `Overflow.Fail`. */
final class BufferOverflow private[weir] (size: Int)
    extends RuntimeException(
      s"Stream.buffer: an element came while the buffer of $size was full. The overflow is Fail. " +
        "Use a larger buffer, or Overflow.Wait."
    )

/** The error of `Stream.throttleEnforcing`. */
final class RateExceeded private[weir] (count: Int, per: FiniteDuration, burst: Int)
    extends RuntimeException(
      s"Stream.throttleEnforcing: an element came earlier than at $count in $per, with a burst of " +
        s"$burst. To have it wait, use throttle."
    )
