package weir

import weir.std.Signal
import weir.stream.*
import weir.sync.OneShot

/** The operators of `Stream` that run this stream and others concurrently, or ahead of its
  * consumer.
  */
private[weir] transparent trait StreamConcurrency[+A]:
  self: Stream[A] =>

  /** Emits the same elements. A separate fiber, the producer, pulls them from upstream ahead of the
    * consumer. The buffer holds at most `size` elements, and the producer holds one more while it
    * waits for room. Elements of a collection, which exist already, do not count.
    *
    * The producer is woken when a quarter of the buffer is free again. When the consumer asks for
    * no more elements, the producer is cancelled.
    *
    * **Order**: kept. An error comes after the elements before it.
    * {{{
    * val loadedAhead = Stream.emits(ids).evalMap(load).prefetchN(8).evalMap(u => store(u.name))
    * }}}
    */
  final def prefetchN(size: Int): Stream[A] =
    require(size >= 1, s"Stream.prefetchN: the size was $size. It must be at least 1.")
    Stream.of(() => PrefetchStage.elements(open(), size))

  /** As `prefetchN`, but limits the buffer by bytes instead of a number of elements. An element
    * takes as many bytes of `limitBytes` as `sizeBytes` returns for it, but at least one. An
    * element that is larger than the limit is buffered alone.
    * {{{
    * val lines: Stream[String] =
    *   Stream.fromPath(path).prefetchBytes(1_000_000)(_.length).through(Text.utf8Decode)
    * }}}
    */
  final def prefetchBytes(limitBytes: Long)(sizeBytes: A => Int): Stream[A] =
    require(
      limitBytes >= 1,
      s"Stream.prefetchBytes: the limit was $limitBytes. It must be at least 1."
    )
    Stream.of(() => PrefetchStage.bytes(open(), limitBytes, Stream.erased(sizeBytes)))

  /** Emits the same elements. A separate fiber, the producer, pulls one element from upstream while
    * the consumer uses the previous one. The producer begins with an element only when the previous
    * one has been taken. A `take` downstream asks for no more elements than it emits.
    *
    * **Order**: as with `prefetchN`.
    * {{{
    * val pages = Stream.emits(urls).map(fetch).prefetchStrict.evalMap(store)
    * }}}
    */
  final def prefetchStrict: Stream[A] = Stream.of(() => PrefetchStrictStage(open()))

  /** Emits the same elements. A separate fiber makes up to `size` of them ahead of the consumer.
    * That fiber never waits: if the buffer is full, `overflow` decides which element is dropped, or
    * that the stream fails. To make it wait, use `prefetchN`.
    *
    * **Fails** with `BufferOverflow` under `Overflow.Fail`, after the elements in the buffer.
    * **Order**: kept.
    * {{{
    * val newest = Stream.repeatEval(fromNetwork).buffer(100, Overflow.DropOldest)
    * }}}
    */
  final def buffer(size: Int, overflow: Overflow): Stream[A] =
    require(size >= 1, s"Stream.buffer: the size was $size. It must be at least 1.")
    Stream.of(() => OverflowStage(open(), size, overflow))

  /** Combines all elements that arrive while the consumer is busy into one with `f`, and emits it.
    * Upstream runs on a separate fiber and does not wait for the consumer.
    *
    * **Fails** with the error that `f` throws, after the elements that were combined before.
    * **Order**: kept.
    * {{{
    * val sums: Stream[Int] = Stream.repeatEval(visitsOf(id)).conflate(_ + _)
    * }}}
    */
  final def conflate[B >: A](f: (B, B) => B): Stream[B] =
    batch[B](Long.MaxValue, _ => 0)(identity)(f)

  /** Combines the elements that arrive while the consumer is busy, and emits the result: `first` of
    * an element, then `combine` of that and of each further element, as long as their costs add up
    * to at most `limit`. An element with a higher cost is emitted alone. Upstream runs on a
    * separate fiber. When the limit is reached, it waits for the consumer.
    *
    * **Fails** with the error that the functions throw, after the elements that were combined
    * before. **Order**: kept.
    * {{{
    * val batches = Stream.repeatEval(fromNetwork).batch(100, _ => 1)(Vector(_))(_ :+ _)
    * }}}
    */
  final def batch[B](limit: Long, cost: A => Long)(first: A => B)(combine: (B, A) => B): Stream[B] =
    require(limit >= 1, s"Stream.batch: the limit was $limit. It must be at least 1.")
    Stream.of { () =>
      val combined = combine.asInstanceOf[(Any, Any) => Any]
      BatchStage(open(), limit, Stream.erased(cost), Stream.erased(first), combined)
    }

  /** Emits the first value of the iterator that `f` returns for each element, then further values
    * of it as long as the consumer asks for more and the next element has not arrived. The end of
    * this stream ends the result at once.
    * {{{
    * val latest: Stream[Config] = Stream.repeatEval(configChanged).expand(Iterator.continually(_))
    * }}}
    */
  final def expand[B](f: A => Iterator[B]): Stream[B] =
    Stream.of(() => ExpandStage(open(), Stream.erased(f)))

  /** Emits the elements of both streams as they arrive. **Fails** as soon as one of them fails; the
    * other is then cancelled.
    * {{{
    * val events: Stream[Config] = Stream.repeatEval(configChanged).merge(Stream.eval(fromFile))
    * }}}
    */
  final def merge[B >: A](that: Stream[B]): Stream[B] =
    Stream.fromIterable[Stream[B]](List(this, that)).parJoin(2)

  /** Emits the elements of both streams as they arrive. If both have one, emits that of this
    * stream. At most one element of each stream is made ahead. The next one of this stream is
    * pulled as soon as the consumer has taken one, so that it arrives first. **Fails** as `merge`.
    * {{{
    * val urgentFirst: Stream[String] = Stream.linesOf(path).mergePreferred(Stream.emits(requests))
    * }}}
    */
  final def mergePreferred[B >: A](that: Stream[B]): Stream[B] =
    Stream.of(() => MergePreferredStage(open(), that.open()))

  /** Emits the elements of both streams as they arrive, until this stream ends; `that` is then
    * cancelled. **Fails** as `merge`.
    * {{{
    * val withTicks: Stream[String] =
    *   Stream.linesOf(path).mergeHaltLeft(Stream.fixedRate(1.second).as("tick"))
    * }}}
    */
  final def mergeHaltLeft[B >: A](that: Stream[B]): Stream[B] =
    untilNone(withEnd.merge(that.map(Some(_))))

  /** Emits the elements of both streams as they arrive, until `that` ends; this stream is then
    * cancelled. **Fails** as `merge`.
    */
  final def mergeHaltRight[B >: A](that: Stream[B]): Stream[B] =
    untilNone(map(Some(_)).merge(that.withEnd))

  /** Emits the elements of both streams as they arrive, until one of them ends; the other is then
    * cancelled. **Fails** as `merge`.
    */
  final def mergeHaltBoth[B >: A](that: Stream[B]): Stream[B] =
    untilNone[B](withEnd.merge(that.withEnd))

  /** Emits each element as a `Some`, then one `None`. This is not written with `++`, which would
    * close this stream before its last elements have been used.
    */
  private[weir] def withEnd: Stream[Option[A]] = transform(Transformer.WithEnd[A]())

  /** Emits the same elements, and runs `that` concurrently from the first element that is asked
    * for. The elements of `that` are dropped. When this stream ends, or is not consumed to its end,
    * `that` is cancelled. The end of `that` changes nothing. No element is made ahead of demand.
    *
    * **Fails** also as soon as `that` fails; the work of this stream is then cancelled.
    * {{{
    * val watched =
    *   Stream.fromIterable(ids).evalMap(load).concurrently(Stream.repeatEval(configChanged))
    * }}}
    */
  final def concurrently(that: Stream[Any]): Stream[A] = beside(that.drain, ends = false)

  /** Emits elements until `task` ends. `task` starts when the first element is asked for. When it
    * ends, the work of this stream is cancelled; when this stream ends first, `task` is cancelled.
    * No element is made ahead of demand.
    *
    * For a `Deferred`, pass its `get` itself: then no element is emitted after the value has been
    * set, and none at all if it was set before the stream began. With any other task, an element
    * that was made before the end of the task may still be emitted after it.
    *
    * **Fails** also as soon as `task` fails, and if work for which the consumer waits fails before
    * or during its cancel: the work for the next element, or the work of a stage which has to emit
    * it, such as the effects of `parEvalMap`. An error of work for later elements is printed, and
    * does not fail the stream. So is an error of such a stage if a `handleErrorWith` stands between
    * it and the consumer.
    * {{{
    * val untilStop =
    *   Deferred[Unit].map(stop => Stream.repeatEval(fromNetwork).interruptWhen(stop.get))
    * }}}
    */
  final def interruptWhen(task: Task[Any]): Stream[A] = task match
    case set: OneShot.Wait[?] => beside(task, ends = true, () => set.isSet)
    case _ => beside(task, ends = true)

  /** As `interruptWhen`, but ends when the value of `stop` is true. No element is emitted once a
    * `set(true)` has returned, and none at all if the value was true before. A `true` that is
    * replaced at once may be missed.
    * {{{
    * val polled = Signal.of(false).map { stop =>
    *   Stream.repeatEval(fromNetwork).interruptWhenTrue(stop)
    * }
    * }}}
    */
  final def interruptWhenTrue(stop: Signal.View[Boolean]): Stream[A] =
    beside(stop.waitUntil(identity), ends = true, () => stop.present)

  /** As `interruptWhen`, but ends at the first `true` of `that`, which runs on a separate fiber.
    * Elements may be emitted until the `true` has arrived. If `that` ends without a `true`, nothing
    * changes. For a `Signal`, pass the signal itself, not its stream.
    * {{{
    * val polled = Stream.repeatEval(fromNetwork).interruptWhenTrue(Stream.sleep(1.minute).as(true))
    * }}}
    */
  final def interruptWhenTrue(that: Stream[Boolean]): Stream[A] =
    interruptWhen(
      that.filter(identity).take(1).count.flatMap(n => if n == 0 then Task.never else Task.unit)
    )

  /** Emits the same elements, but none while the value of `paused` is true: none between the return
    * of a `set(true)` and the next `set(false)`, and none before the first `set(false)` if the
    * value was true from the beginning. One element may be made meanwhile; it then waits.
    *
    * **Waits** until the value is false. **Cancelled** while it waits.
    * {{{
    * val pausable = Signal.of(false).map { paused =>
    *   Stream.emits(requests).evalMap(ask).pauseWhen(paused)
    * }
    * }}}
    */
  final def pauseWhen(paused: Signal.View[Boolean]): Stream[A] =
    evalTap(_ => paused.waitUntil(!_))

  /** Emits the same elements, but none while the latest element of `that` is true. `that` runs on a
    * separate fiber, so elements may be emitted until its first element, or a `true`, has arrived.
    * The end of `that` changes nothing. For a `Signal`, pass the signal itself, not its stream.
    * **Fails** also as soon as `that` fails.
    * {{{
    * def polite(isBusy: Task[Boolean]): Stream[String] =
    *   Stream.emits(requests).evalMap(ask).pauseWhen(Stream.repeatEval(isBusy).metered(1.second))
    * }}}
    */
  final def pauseWhen(that: Stream[Boolean]): Stream[A] =
    that.hold(false)(paused => evalTap(_ => paused.waitUntil(!_)))

  /** Emits the elements of the stream that `use` returns for a signal. The signal holds the latest
    * element of this stream, at first `initial`. This stream runs concurrently, and is cancelled
    * when the stream of `use` ends. The end of this stream changes nothing.
    *
    * **Fails** also as soon as this stream fails.
    * {{{
    * val users = Stream.repeatEval(configChanged).hold(config) { latest =>
    *   Stream.fromIterable(ids).evalMap(id => latest.get.flatMap(c => store(s"$id ${c.address}")))
    * }
    * }}}
    */
  final def hold[B >: A, C](initial: B)(use: Signal[B] => Stream[C]): Stream[C] =
    Stream.eval(Signal.of(initial)).flatMap(s => use(s).concurrently(evalMap(s.set)))

  private[weir] def beside(
      task: Task[Any],
      ends: Boolean,
      isOver: () => Boolean = () => false
  ): Stream[A] =
    Stream.of(() => BesideStage(open(), Stream.eval(task).open(), ends, isOver))

  /** Emits a pair of the latest elements of both streams for each element that arrives, once both
    * have emitted one. Ends when both streams have ended, or when one of them has ended without an
    * element. **Fails** as soon as one of them fails; the other is then cancelled.
    * {{{
    * val current: Stream[(String, Config)] =
    *   Stream.emits(requests).zipLatest(Stream.repeatEval(configChanged))
    * }}}
    */
  final def zipLatest[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ZipLatestStage(open(), that.open()))

  /** Emits pairs of one element of each stream, both of which are pulled at the same time. Ends
    * when one of the two streams ends. **Fails** as soon as one of them fails; the other is then
    * cancelled.
    * {{{
    * val both: Stream[(User, Int)] =
    *   Stream.emits(ids).evalMap(load).parZip(Stream.emits(ids).evalMap(visitsOf))
    * }}}
    */
  final def parZip[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ParZipStage(open(), that.open()))

  /** Emits the elements of the stream that `f` returns for the latest element. When a new element
    * arrives, the stream of the one before it is cancelled, even while the consumer is busy. The
    * new stream begins when that has ended. An element of the old stream that the consumer has not
    * taken is dropped. At most one element is made ahead.
    *
    * **Fails** as soon as this stream or a stream of `f` fails.
    * {{{
    * val current = Stream.repeatEval(configChanged).switchMap(c => Stream.resource(clientOf(c)))
    * }}}
    */
  final def switchMap[B](f: A => Stream[B]): Stream[B] =
    Stream.of(() => SwitchMapStage(open(), f.asInstanceOf[Any => Stream[Any]]))

  /** Emits the elements of the streams that this stream emits, as they arrive. At most `limit` of
    * them run at a time, and up to 64 elements are buffered. **Fails** as soon as one of them
    * fails; the others are then cancelled.
    * {{{
    * val lines: Stream[String] = Stream.emits(files).map(file => Stream.linesOf(file)).parJoin(4)
    * }}}
    */
  final def parJoin[B](limit: Int)(using elements: A <:< Stream[B]): Stream[B] =
    require(limit >= 1, s"Stream.parJoin: the limit was $limit. It must be at least 1.")
    Stream.of(() => ParJoinStage(open(), limit))

  /** As `parJoin`, without a limit to the number of streams that run at a time. Use it when there
    * are few streams.
    */
  final def parJoinUnbounded[B](using elements: A <:< Stream[B]): Stream[B] = parJoin(Int.MaxValue)

  /** Passes all elements of this stream, which runs once, to each of `pipes`, and emits the
    * elements of the pipes as they arrive. Up to 16 elements wait for each pipe; the slowest pipe
    * sets the pace. A pipe that ends early receives no more. The stream ends when all pipes have
    * ended.
    *
    * A pipe sees an end only if this stream has ended. So code after a `++` in a pipe, such as a
    * commit, does not run after a cancel or an error, or if the consumer asks for no more elements.
    *
    * **Fails** as soon as a pipe fails; the others are then cancelled. An error of this stream
    * reaches each pipe, after the elements before it. **Order**: each pipe receives the elements in
    * order.
    * {{{
    * val both = Stream
    *   .fromIterable(ids)
    *   .broadcastThrough(_.evalMap(load), _.evalMap(id => store(s"$id")))
    * }}}
    */
  final def broadcastThrough[B](pipes: (Stream[A] => Stream[B])*): Stream[B] =
    require(pipes.nonEmpty, "Stream.broadcastThrough: there was no pipe. Give it at least one.")
    Stream.of(() => FanOutStage.broadcast(open(), erasedPipes(pipes)))

  /** As `broadcastThrough`, but passes each element to one of `pipes` that is ready for it. No
    * element waits in a buffer. Ends when all pipes have ended.
    * {{{
    * val answers: Stream[String] = Stream
    *   .emits(requests)
    *   .balance(_.evalMap(r => ask(s"a.example/$r")), _.evalMap(r => ask(s"b.example/$r")))
    * }}}
    */
  final def balance[B](pipes: (Stream[A] => Stream[B])*): Stream[B] =
    require(pipes.nonEmpty, "Stream.balance: there was no pipe. Give it at least one.")
    Stream.of(() => FanOutStage.balance(open(), erasedPipes(pipes)))

  /** Splits this stream into two: the elements for which `isFirst` is true, and the others. While
    * the resource is in use, a fiber runs this stream. Up to 16 elements wait in each of the two
    * streams. Run each of them once, both at the same time: if one is not run, the other will wait.
    * A stream that is over takes no more elements.
    *
    * **Fails**: an error of this stream or of `isFirst` comes in both streams, after the elements
    * before it. **Order**: kept. This stream is closed with the resource, after the use of its
    * elements.
    * {{{
    * val both = Stream.fromIterable(ids).partition(_ % 2 == 0).use { (even, odd) =>
    *   even.evalMap(load).toList.both(odd.count)
    * }
    * }}}
    */
  final def partition(isFirst: A => Boolean): Resource[(Stream[A], Stream[A])] =
    Partition(this, isFirst)

  private def untilNone[A](stream: Stream[Option[A]]): Stream[A] =
    stream.takeWhile(_.isDefined).map(_.get)

  private def erasedPipes[A, B](
      pipes: Seq[Stream[A] => Stream[B]]
  ): Seq[Stream[Any] => Stream[Any]] =
    pipes.map(_.asInstanceOf[Stream[Any] => Stream[Any]])
