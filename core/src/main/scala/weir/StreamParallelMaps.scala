package weir

import weir.std.Signal
import weir.stream.*

/** The operators of `Stream` that run a task for each element, several at a time. */
private[weir] transparent trait StreamParallelMaps[+A]:
  self: Stream[A] =>

  /** Runs the task that `f` returns for each element and emits its value. At most `parallelism`
    * tasks run at a time.
    *
    * **Fails** with the first error, which cancels the other tasks. **Order**: that of the
    * elements. While one task takes long, those of later elements run, until `buffer` of them have
    * finished and wait for it.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).parEvalMap(8)(load)
    * }}}
    */
  final def parEvalMap[B](parallelism: Int, buffer: Int = 64)(f: A => Task[B]): Stream[B] =
    parMap(parallelism, buffer, f, ordered = true, "parEvalMap")

  /** As `parEvalMap`, with the value of a signal as the parallelism, which may change while the
    * stream runs. If more tasks run than it allows, they continue, and no further one begins. With
    * 0, none begins. Changes in quick succession may be seen as one.
    *
    * **Fails** also with an `IllegalArgumentException` if the value is negative.
    * {{{
    * val users = Signal.of(8).map { parallelism =>
    *   Stream.emits(ids).parEvalMap(parallelism, buffer = 64)(load)
    * }
    * }}}
    */
  final def parEvalMap[B](parallelism: Signal.View[Int], buffer: Int)(f: A => Task[B]): Stream[B] =
    parMapResized(parallelism, buffer, f, ordered = true, "parEvalMap")

  /** As `parEvalMap`. **Order**: that in which the tasks end.
    * {{{
    * val firstAnswer: Task[Option[String]] = Stream.emits(servers).parEvalMapUnordered(3)(ask).head
    * }}}
    */
  final def parEvalMapUnordered[B](parallelism: Int, buffer: Int = 64)(
      f: A => Task[B]
  ): Stream[B] =
    parMap(parallelism, buffer, f, ordered = false, "parEvalMapUnordered")

  /** As `parEvalMapUnordered`, with the value of a signal as the parallelism: see `parEvalMap`.
    * {{{
    * def loaded(parallelism: Signal[Int]): Stream[User] =
    *   Stream.emits(ids).parEvalMapUnordered(parallelism, buffer = 64)(load)
    * }}}
    */
  final def parEvalMapUnordered[B](parallelism: Signal.View[Int], buffer: Int)(
      f: A => Task[B]
  ): Stream[B] =
    parMapResized(parallelism, buffer, f, ordered = false, "parEvalMapUnordered")

  /** As `parEvalMap`, without a limit to the number of tasks that run at a time. Use it when there
    * are few tasks.
    */
  final def parEvalMapUnbounded[B](f: A => Task[B]): Stream[B] = parEvalMap(Int.MaxValue)(f)

  /** Runs the task that `f` returns for each element and emits its value. At most `parallelism`
    * tasks run at a time, and one at a time for each key. Keys are compared by `==`. Up to `buffer`
    * further elements are pulled, which wait for their key, or, once their task has ended, for the
    * consumer.
    *
    * **Fails** with the first error, which cancels the other tasks. An error of this stream comes
    * after all results. **Order**: for each key, that of its elements; otherwise that in which the
    * tasks end. A slow key holds up no other, until `buffer` of its elements wait.
    * {{{
    * val stored = Stream.fromIterable(requests).parEvalMapBy(8)(request => request.take(1))(store)
    * }}}
    */
  final def parEvalMapBy[K, B](parallelism: Int, buffer: Int = 64)(key: A => K)(
      f: A => Task[B]
  ): Stream[B] =
    require(
      parallelism >= 1 && buffer >= 0,
      s"Stream.parEvalMapBy: the parallelism was $parallelism and the buffer $buffer. " +
        "They must be at least 1 and 0."
    )
    Stream.of(() =>
      Observation.effects(open(), Stream.erased(f), parallelism)(
        ByKeyStage(_, parallelism, buffer, Stream.erased(key), _)
      )
    )

  private def parMapResized[B](
      parallelism: Signal.View[Int],
      buffer: Int,
      f: A => Task[B],
      ordered: Boolean,
      name: String
  ): Stream[B] =
    require(buffer >= 0, s"Stream.$name: the buffer was $buffer. It must be at least 0.")
    Stream.of(() =>
      Observation.effects(open(), Stream.erased(f), parallelism = 0)((upstream, effects) =>
        Resized(ParEvalMapStage(upstream, 0, buffer, effects, ordered, rule = null), parallelism)
      )
    )

  private def parMap[B](
      parallelism: Int,
      buffer: Int,
      f: A => Task[B],
      ordered: Boolean,
      name: String
  ): Stream[B] =
    require(
      parallelism >= 1 && buffer >= 0,
      s"Stream.$name: the parallelism was $parallelism and the buffer $buffer. " +
        "They must be at least 1 and 0."
    )
    Stream.of(() =>
      Observation.effects(open(), Stream.erased(f), parallelism)(
        ParEvalMapStage(_, parallelism, buffer, _, ordered)
      )
    )
