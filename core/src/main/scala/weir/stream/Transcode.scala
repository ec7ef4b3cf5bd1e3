package weir.stream

import weir.fiber.TaskFiber
import weir.{Outcome, Stream}

/** Makes pieces of text or bytes of other such pieces, which may be cut anywhere. It belongs
  * to one run of a stream.
  */
private[weir] abstract class Transcoder:
  /** Gives a piece; then `result` is asked until it returns null. */
  def add(piece: Any): Unit

  /** Tells that there are no more pieces; then `result` is asked until it returns null. */
  def end(): Unit

  /** The next piece, or null. **Fails** at its place where the input is malformed. */
  def result(): Any

  /** Gives back what it holds. */
  def close(): Unit = ()

/** The pieces that a transcoder makes. It is made by the first `next`. */
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
