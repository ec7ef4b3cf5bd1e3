package weir.stream

import java.util.Arrays
import weir.fiber.TaskFiber
import weir.{Outcome, Stream, Task}

/** Emits the bytes of an input in blocks. Each block has the bytes of one read, in an array of its
  * own.
  *
  * Opening is masked, so an input that has been opened is known, and is closed. A read is not
  * masked.
  */
private[weir] final class BlockSource(open: () => ByteInput, blockBytes: Int) extends Pull:
  private var input: ByteInput | Null = null
  private var block: Array[Byte] | Null = null
  private var ended = false

  private def read: Task[Int] = input.nn.read(block.nn)

  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    if ended then Pull.End
    else
      if input eq null then fiber.masked { input = open() }
      if block eq null then block = new Array[Byte](blockBytes)
      var count = fiber.await(read)
      while count == 0 do count = fiber.await(read)
      if count < 0 then
        ended = true
        Pull.End
      else take(count)

  /** Returns the block. A block that is not full is copied: a consumer that keeps it keeps no
    * unused bytes.
    */
  private def take(count: Int): Array[Byte] =
    val filled = block.nn
    if count < blockBytes then Arrays.copyOf(filled, count)
    else
      block = null
      filled

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val opened = input
    if opened ne null then opened.close()

private[weir] object BlockSource:
  def stream(input: => ByteInput, blockBytes: Int): Stream[Array[Byte]] =
    new Stream[Array[Byte]]:
      private[weir] def open(): Pull = BlockSource(() => input, blockBytes)
