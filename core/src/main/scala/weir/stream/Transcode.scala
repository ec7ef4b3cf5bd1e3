package weir.stream

import weir.fiber.TaskFiber
import weir.{Outcome, Stream}

/** Converts pieces of text or bytes to other such pieces, which may be cut anywhere. It belongs to
  * one run of a stream.
  */
private[weir] abstract class Transcoder:
  /** Adds a piece. Then `result` is called until it returns null. */
  def add(piece: Any): Unit

  /** Reports that there are no more pieces. Then `result` is called until it returns null. */
  def end(): Unit

  /** Returns the next piece, or null. **Fails** at the place at which the input is malformed. */
  def result(): Any

  /** Releases what it holds. */
  def close(): Unit = ()

/** Emits the pieces that a transcoder makes. The first `next` makes the transcoder. */
private[weir] final class TranscodeStage(upstream: Pull, make: () => Transcoder)
    extends Stage(upstream):
  private var transcoder: Transcoder | Null = null
  private var noMoreInput = false

  def next(fiber: TaskFiber): Any =
    if transcoder eq null then transcoder = make()
    val running = transcoder.nn
    var piece = running.result()
    while piece.asInstanceOf[AnyRef] eq null do
      if noMoreInput then return Pull.End
      val input = upstream.next(fiber)
      if Pull.isEnd(input) then
        noMoreInput = true
        running.end()
      else running.add(input)
      piece = running.result()
    piece

  override def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    val running = transcoder
    Pull.both(if running ne null then running.close(), upstream.close(fiber, outcome))

private[weir] object TranscodeStage:
  def stream[A](upstream: Stream[Any], make: () => Transcoder): Stream[A] = new Stream[A]:
    private[weir] def open(): Pull = TranscodeStage(upstream.open(), make)
