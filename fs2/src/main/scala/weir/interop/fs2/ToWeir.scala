package weir.interop.fs2

import _root_.cats.effect.kernel.Resource.ExitCase
import _root_.fs2.{Chunk, Stream as Fs2Stream}
import weir.interop.cats.given
import weir.{Fiber, Outcome, Queue, Resource, Stream, Task}

/** One run of a stream of fs2's, on a fiber of its own, that takes turns with its consumer.
  *
  * {{{
  * producer: waits for a request --More--> pulls a chunk --answers it--> waits for a request
  *                  |                          |
  *                  +--Stop, Raise--> ends     +--the end, an error--> answers that, and ends
  * }}}
  *
  *   - There is at most one request without an answer (`isWaiting`), so the queues hold at most one
  *     message each.
  *   - **The race we fear**: the consumer is cancelled between its request and the answer, and
  *     closes. It does not know then whether the producer pulls or has answered. So it cancels the
  *     fiber and waits for its end, which is right in both cases. Where nothing is asked for, the
  *     producer waits for a request, and is told how the use has ended.
  */
private final class ToWeir[A](stream: Fs2Stream[Task, A]):
  import ToWeir.*

  private val requests = Queue.unsafe[Request](1)
  private val answers = Queue.unsafe[Answer[A]](1)

  // the consumer's, of which there is one at a time
  private var fiber: Fiber[Unit] | Null = null
  private var isWaiting = false

  /** The next chunk; none at the end. */
  val next: Task[Option[Chunk[A]]] = Task.defer {
    isWaiting = true
    val running = fiber
    val asks = if running eq null then begin else requests.offer(Request.More)
    asks.flatMap(_ => answers.take).flatMap { answer =>
      isWaiting = false
      answer match
        case Answer.Next(chunk) => Task.pure(Some(chunk))
        case Answer.End => Task.pure(None)
        case Answer.Failed(error) => Task.fail(error)
        case Answer.Canceled => Task.canceled.flatMap(_ => Task.never)
    }
  }

  /** Masked, so that a cancel cannot lose the fiber. */
  private val begin: Task[Unit] =
    Task.uncancelable(_ => produce.start.map(started => fiber = started))

  private def produce: Task[Unit] =
    val chunks = stream.chunks.evalMap(chunk =>
      answers.offer(Answer.Next(chunk)).flatMap(_ => requests.take).flatMap {
        case Request.More => Task.pure(true)
        case Request.Stop => Task.pure(false)
        case Request.Raise(error) => Task.fail(error)
      }
    )
    chunks
      .takeWhile(identity)
      .compile
      .drain
      .redeemWith(error => answers.offer(Answer.Failed(error)), _ => answers.offer(Answer.End))
      .onCancel(answers.tryOffer(Answer.Canceled).void)

  /** Ends the run, and fails with an error that only its finalizers have thrown. */
  def close(outcome: Outcome[Any]): Task[Unit] =
    val running = fiber
    if running eq null then Task.unit
    else if isWaiting || outcome == Outcome.Canceled then running.cancel
    else
      val request = outcome match
        case Outcome.Failed(error) => Request.Raise(error)
        case _ => Request.Stop
      // The producer may have ended before: then nobody takes the request.
      requests.offer(request).flatMap(_ => running.join).flatMap(_ => answers.tryTake).flatMap {
        case Some(Answer.Failed(error)) if !isRaised(error, outcome) => Task.fail(error)
        case _ => Task.unit
      }

  private def isRaised(error: Throwable, outcome: Outcome[Any]): Boolean = outcome match
    case Outcome.Failed(raised) => raised eq error
    case _ => false

private object ToWeir:
  /** The most elements of one chunk: enough that what a chunk costs does not count. */
  inline val most = 256

  def apply[A](stream: Fs2Stream[Task, A]): Stream[A] =
    Stream
      .resource(
        Resource.makeCase(Task.delay(new ToWeir(stream)))((run, outcome) => run.close(outcome))
      )
      .flatMap(run => Stream.repeatEval(run.next).unNoneTerminate)
      .flatMap(chunk => Stream.fromIterable(chunk.toVector))

  def outcome(exit: ExitCase): Outcome[Unit] = exit match
    case ExitCase.Succeeded => Outcome.Succeeded(())
    case ExitCase.Errored(error) => Outcome.Failed(error)
    case ExitCase.Canceled => Outcome.Canceled

  private enum Request:
    case More, Stop
    case Raise(error: Throwable)

  private enum Answer[+A]:
    case Next(chunk: Chunk[A])
    case End, Canceled
    case Failed(error: Throwable)
