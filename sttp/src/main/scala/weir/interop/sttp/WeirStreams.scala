package weir.interop.sttp

import _root_.sttp.capabilities.{StreamMaxLengthExceededException, Streams}
import weir.Stream

/** Weir's streams as a capability of sttp and tapir. A body is a stream of blocks of bytes, which
  * may end anywhere.
  */
trait WeirStreams extends Streams[WeirStreams]:
  type BinaryStream = Stream[Array[Byte]]
  type Pipe[A, B] = Stream[A] => Stream[B]

object WeirStreams extends WeirStreams:
  /** Emits the same blocks. **Fails** with a `StreamMaxLengthExceededException` at the block with
    * which there are more than `limitBytes` bytes.
    */
  def limitBytes(blocks: Stream[Array[Byte]], limitBytes: Long): Stream[Array[Byte]] =
    Stream.suspend {
      var left = limitBytes
      blocks.map { block =>
        left -= block.length
        if left < 0 then throw StreamMaxLengthExceededException(limitBytes)
        block
      }
    }
