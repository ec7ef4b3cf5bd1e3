package weir.interop.fs2

import _root_.cats.effect.kernel.Resource.ExitCase
import _root_.fs2.{Chunk, Pull, Stream as Fs2Stream}
import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.AtomicReference
import weir.interop.cats.given
import weir.{Deferred, Fiber, Outcome, Resource, Stream, Task}

/** One run of a stream of fs2's, on a separate fiber, which takes turns with its consumer.
  *
  * {{{
  * Asked --the producer gives a chunk--> Answered --the consumer takes it--> Idle
  *   ^                                                                        |
  *   +-------------------------the consumer asks: More------------------------+
  *
  * Asked --the end, an error, a cancel--> Ended <--the consumer closes: Stop, Raise-- Idle
  * }}}
  *
  *   - **Shared**: `state`. The consumer moves it out of `Answered` and `Idle`, by a CAS; the
  *     producer out of `Asked`, and to `Ended` from each state. Both handle all states. So a
  *     cancelled wait loses nothing, and a producer that ends while nothing is asked leaves its end
  *     in `state`, where the next request finds it.
  *   - **The race we fear**: an interrupt inside of fs2's stream (`interruptWhen`, `timeout`, a
  *     failed `concurrently`) while the producer waits for a request. An effect of a stage
  *     downstream belongs to the scope of its element, so the interrupt would end that wait, and
  *     lose a request to stop. `stepLeg` returns to the scope of its caller, which nothing
  *     interrupts: the interrupt is seen when the next chunk is asked for.
  *   - **A second race**: the consumer closes while the producer pulls, which may take for ever. So
  *     it cancels the fiber and waits for its end. Where the producer waits for a request, it is
  *     told how the use has ended.
  */
private final class ToWeir[A]:
  import ToWeir.*

  // shared
  /** A run begins when its first element is asked for. */
  private val state = AtomicReference[State[A]](State.Asked(Deferred.unsafe))

  // the consumer's, of which there is one at a time
  private var isEndTold = false

  /** The next chunk; none at the end. */
  def next: Task[Option[Chunk[A]]] = Task.defer {
    state.get match
      case State.Asked(changed) => changed.get.flatMap(_ => next)
      case answered @ State.Answered(chunk, request) =>
        if state.compareAndSet(answered, State.Idle(request)) then Task.pure(Some(chunk)) else next
      case idle @ State.Idle(request) =>
        // The producer may have answered by then.
        request.complete(Request.More).flatMap { _ =>
          state.compareAndSet(idle, State.Asked(Deferred.unsafe)): Unit
          next
        }
      case State.Ended(outcome) =>
        isEndTold = true
        outcome match
          case Outcome.Succeeded(_) => Task.pure(None)
          case Outcome.Failed(error) => Task.fail(error)
          // a consumer that is masked goes on
          case Outcome.Canceled => Task.canceled.flatMap(_ => Task.fail(cancelled))
  }

  /** Runs `stream`, and ends as it does. */
  def produce(stream: Fs2Stream[Task, A]): Task[Unit] =
    stream.pull.stepLeg
      .flatMap(giveAll)
      .stream
      .compile
      .drain
      .guaranteeCase(outcome => Task.defer(change(State.Ended(outcome))))
      .attempt
      .void

  private def giveAll(leg: Option[Fs2Stream.StepLeg[Task, A]]): Pull[Task, Nothing, Unit] =
    leg match
      case None => Pull.done
      case Some(leg) =>
        Pull.eval(give(leg.head)).flatMap {
          case Request.More => leg.stepLeg.flatMap(giveAll)
          case Request.Stop => Pull.done
          case Request.Raise(error) => Pull.raiseError[Task](error)
        }

  /** The next request. */
  private def give(chunk: Chunk[A]): Task[Request] = Task.defer {
    val request = Deferred.unsafe[Request]
    change(State.Answered(chunk, request)).flatMap(_ => request.get)
  }

  private def change(next: State[A]): Task[Unit] = state.getAndSet(next) match
    case State.Asked(changed) => changed.complete(()).void
    case _ => Task.unit

  /** Ends the run, whose fiber is `producer`. **Fails** with an error that the consumer has not
    * seen, such as one that only the finalizers have thrown.
    */
  def close(producer: Fiber[Unit], outcome: Outcome[Any]): Task[Unit] =
    stop(producer, outcome).flatMap(_ =>
      (state.get, outcome) match
        case (_, Outcome.Canceled) => Task.unit
        case (State.Ended(Outcome.Failed(error)), Outcome.Failed(raised)) if error eq raised =>
          Task.unit
        case (State.Ended(Outcome.Failed(error)), _) if !isEndTold => Task.fail(error)
        case _ => Task.unit
    )

  private def stop(producer: Fiber[Unit], outcome: Outcome[Any]): Task[Any] = Task.defer {
    def tell(request: Deferred[Request]): Task[Any] =
      val how = outcome match
        case Outcome.Failed(error) => Request.Raise(error)
        case _ => Request.Stop
      request.complete(how).flatMap(isTold => if isTold then producer.join else producer.cancel)
    (state.get, outcome) match
      case (_, Outcome.Canceled) => producer.cancel
      case (State.Idle(request), _) => tell(request)
      case (State.Answered(_, request), _) => tell(request)
      case (State.Ended(_), _) => producer.join
      case (State.Asked(_), _) => producer.cancel
  }

private object ToWeir:
  /** The largest number of elements of a chunk: so many that the cost of a chunk does not matter.
    */
  inline val most = 256

  def apply[A](stream: Fs2Stream[Task, A]): Stream[A] =
    val run = Task.defer {
      val run = new ToWeir[A]
      run.produce(stream).start.map((run, _))
    }
    Stream
      .resource(Resource.makeCase(run) { case ((run, producer), outcome) =>
        run.close(producer, outcome)
      })
      .flatMap((run, _) => Stream.repeatEvalOption(run.next))
      .flatMap(chunk => Stream.fromIterable(chunk.toVector))

  private def cancelled = CancellationException(
    "toWeir: the stream of fs2's has cancelled itself. It should end with an end or an error."
  )

  def outcome(exit: ExitCase): Outcome[Unit] = exit match
    case ExitCase.Succeeded => Outcome.Succeeded(())
    case ExitCase.Errored(error) => Outcome.Failed(error)
    case ExitCase.Canceled => Outcome.Canceled

  private enum State[A]:
    /** The producer pulls. The consumer may wait for `changed`. */
    case Asked(changed: Deferred[Unit])

    /** `chunk` is there for the consumer, and the producer waits for `request`. */
    case Answered(chunk: Chunk[A], request: Deferred[Request])

    /** Nothing is asked for, and the producer waits for `request`. */
    case Idle(request: Deferred[Request])

    /** The producer has ended with `outcome`. */
    case Ended(outcome: Outcome[Unit])

  private enum Request:
    case More, Stop
    case Raise(error: Throwable)
