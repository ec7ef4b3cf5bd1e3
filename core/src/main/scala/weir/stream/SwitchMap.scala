package weir.stream

import weir.{Deferred, Ref, Stream, Task}

/** `switchMap`, put together from `parJoin` and `interruptWhen`: at most two streams are open, the
  * one that is being cancelled, and the next one, which waits for its end. `parJoin` asks for a
  * third one only when the first of them has ended.
  */
private[weir] object SwitchMap:
  /** The run of the stream of one element. */
  private final class Turn:
    val halted, ended: Deferred[Unit] = Deferred.unsafe[Unit]

  def apply[A, B](source: Stream[A], f: A => Stream[B]): Stream[B] =
    Stream.eval(noTurn).flatMap { current =>
      source
        .evalMap { a =>
          val turn = Turn()
          for
            previous <- current.getAndSet(turn)
            _ <- previous.halted.complete(())
          yield run(turn, previous, f(a))
        }
        .parJoin(2)
        .evalMap((b, turn) => current.get.map(now => Option.when(now eq turn)(b)))
        .collect { case Some(b) => b }
    }

  private def noTurn: Task[Ref[Turn]] =
    val none = Turn()
    none.ended.complete(()).andThen(Ref.of(none))

  private def run[B](turn: Turn, previous: Turn, stream: => Stream[B]): Stream[(B, Turn)] =
    Stream
      .eval(previous.ended.get)
      .flatMap(_ => stream)
      .interruptWhen(turn.halted.get)
      .onFinalize(turn.ended.complete(()).void)
      .map(b => (b, turn))
