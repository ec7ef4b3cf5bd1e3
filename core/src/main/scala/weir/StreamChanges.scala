package weir

import weir.stream.*

/** The operators of `Stream` that change its elements, one by one or in groups, on the fiber that
  * runs the stream.
  */
private[weir] transparent trait StreamChanges[+A]:
  self: Stream[A] =>

  /** Applies `f` to each element and emits the results.
    * {{{
    * val lengths: Stream[Int] = Stream.linesOf(path).map(_.length)
    * }}}
    */
  final def map[B](f: A => B): Stream[B] = step(Step.Map(Stream.erased(f)))

  /** Emits the elements for which `keep` is true.
    * {{{
    * val comments: Stream[String] = Stream.linesOf(path).filter(_.startsWith("#"))
    * }}}
    */
  final def filter(keep: A => Boolean): Stream[A] =
    step(Step.Filter(Stream.erased(keep)))

  /** The same as `filter`. The compiler calls it for an `if` in a `for`. */
  final def withFilter(keep: A => Boolean): Stream[A] = filter(keep)

  /** Emits the elements for which `drop` is false.
    * {{{
    * val rows: Stream[String] = Stream.linesOf(path).filterNot(_.isBlank)
    * }}}
    */
  final def filterNot(drop: A => Boolean): Stream[A] = filter(a => !drop(a))

  /** Applies `f` to the elements for which it is defined, and emits the results. Drops the others.
    *
    * {{{
    * val numbers: Stream[Int] =
    *   Stream.linesOf(path).map(_.toIntOption).collect { case Some(number) => number }
    * }}}
    */
  final def collect[B](f: PartialFunction[A, B]): Stream[B] =
    step(Step.Collect(f.asInstanceOf[PartialFunction[Any, Any]]))

  /** Runs the task that `f` returns for each element and emits its value. The tasks run one after
    * the other.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).evalMap(load)
    * }}}
    */
  final def evalMap[B](f: A => Task[B]): Stream[B] =
    step(Step.EvalMap(Stream.erased(f)))

  /** Runs the task that `f` returns for each element, then emits the element.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).evalMap(load).evalTap(user => store(user.name))
    * }}}
    */
  final def evalTap(f: A => Task[Any]): Stream[A] = evalMap(a => f(a).as(a))

  /** Emits the elements for which the task that `keep` returns gives true.
    *
    * {{{
    * val valid: Stream[Int] = Stream.emits(ids).evalFilter(id => Task(id % 2 == 0))
    * }}}
    */
  final def evalFilter(keep: A => Task[Boolean]): Stream[A] =
    evalCollect(a => keep(a).map(is => Option.when(is)(a)))

  /** Runs the task that `f` returns for each element. Emits the value in its result; emits nothing
    * if the result is `None`.
    * {{{
    * val known: Stream[User] =
    *   Stream.emits(ids).evalCollect(id => load(id).option) // without those that fail
    * }}}
    */
  final def evalCollect[B](f: A => Task[Option[B]]): Stream[B] = evalMap(f).unNone

  /** Applies `f` to each element and emits the elements of the resulting collections, one
    * collection after the other. A cancel is noticed before each of those elements.
    *
    * {{{
    * val words: Stream[String] = Stream.linesOf(path).mapConcat(line => line.split(' '))
    * }}}
    */
  final def mapConcat[B](f: A => IterableOnce[B]): Stream[B] = step(
    Step.MapConcat(Stream.erased(f))
  )

  /** Emits `value` in place of each element.
    * {{{
    * val dots: Stream[String] = Stream.linesOf(path).as(".")
    * }}}
    */
  final def as[B](value: B): Stream[B] = map(_ => value)

  /** Emits `()` in place of each element. */
  final def void: Stream[Unit] = as(())

  /** Emits the values of the options that are defined, and drops each `None`.
    * {{{
    * val numbers: Stream[Int] = Stream.linesOf(path).map(_.toIntOption).unNone
    * }}}
    */
  final def unNone[B](using option: A <:< Option[B]): Stream[B] = mapConcat(option)

  /** Emits the values of the options. Ends at the first `None`.
    * {{{
    * val numbers: Stream[Int] = Stream.linesOf(path).map(_.toIntOption).unNoneTerminate
    * }}}
    */
  final def unNoneTerminate[B](using option: A <:< Option[B]): Stream[B] =
    map(option).takeWhile(_.isDefined).map(_.get)

  /** Emits the first `count` elements, then ends. Upstream does no work for a further element.
    * {{{
    * val newest: Task[List[String]] = Stream.repeatEval(ask("a.example")).take(3).toList
    * }}}
    */
  final def take(count: Long): Stream[A] = step(Step.Take(count))

  /** Emits elements as long as `keep` is true for them. Ends before the first element for which it
    * is false.
    * {{{
    * val header: Stream[String] = Stream.linesOf(path).takeWhile(_.nonEmpty)
    * }}}
    */
  final def takeWhile(keep: A => Boolean): Stream[A] =
    step(Step.TakeWhile(Stream.erased(keep)))

  /** Emits elements as long as `keep` is true for them, and also the first one for which it is
    * false. Then ends.
    * {{{
    * val toTheEnd: Stream[String] = Stream.linesOf(path).takeThrough(_ != "END") // with it
    * }}}
    */
  final def takeThrough(keep: A => Boolean): Stream[A] = step(Step.TakeThrough(Stream.erased(keep)))

  /** Emits the last `count` elements, once this stream has ended. Keeps `count` elements in memory.
    * {{{
    * val end: Task[List[String]] = Stream.linesOf(path).takeRight(10).toList
    * }}}
    */
  final def takeRight(count: Int): Stream[A] = transform(Transformer.TakeRight(count))

  /** Emits all elements except the first `count`.
    * {{{
    * val rows: Stream[String] = Stream.linesOf(path).drop(1) // without the header
    * }}}
    */
  final def drop(count: Long): Stream[A] = step(Step.Drop(count))

  /** Drops elements as long as `drop` is true for them. Emits the first one for which it is false,
    * and all that follow.
    * {{{
    * val code: Stream[String] = Stream.linesOf(path).dropWhile(_.startsWith("#"))
    * }}}
    */
  final def dropWhile(drop: A => Boolean): Stream[A] = step(Step.DropWhile(Stream.erased(drop)))

  /** Emits all elements except the last `count`. Each is emitted once `count` others have followed
    * it.
    * {{{
    * val withoutSum: Stream[String] = Stream.linesOf(path).dropRight(1)
    * }}}
    */
  final def dropRight(count: Int): Stream[A] = transform(Transformer.DropRight(count))

  /** Emits the elements that are not equal to the element before them.
    * {{{
    * val states: Stream[Config] = Stream.repeatEval(fromNetwork).metered(1.second).changes
    * }}}
    */
  final def changes: Stream[A] = step(Step.Changes())

  /** Emits the elements whose key differs from that of the element before them. The first element
    * is emitted too.
    * {{{
    * val firstOfFolder = Stream.walk(path).changesBy(_.getParent)
    * }}}
    */
  final def changesBy[K](key: A => K): Stream[A] = transform(Transformer.ChangesBy(key))

  /** Emits the first of all equal elements. Keeps every distinct element in memory.
    * {{{
    * val words: Stream[String] = Stream.linesOf(path).mapConcat(_.split(' ')).distinct
    * }}}
    */
  final def distinct: Stream[A] = distinctBy(identity)

  /** Emits the first element of each key. Keeps every key in memory.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).evalMap(load).distinctBy(_.name)
    * }}}
    */
  final def distinctBy[K](key: A => K): Stream[A] = transform(Transformer.DistinctBy(key))

  /** Emits each element together with its index. The first index is 0.
    * {{{
    * val numbered: Stream[String] = Stream.linesOf(path).zipWithIndex.map((l, n) => s"${n + 1} $l")
    * }}}
    */
  final def zipWithIndex: Stream[(A, Long)] = step(Step.ZipWithIndex())

  /** Emits each element together with the one after it. For the last element, that is `None`.
    * {{{
    * val isLast: Stream[(Int, Boolean)] =
    *   Stream.emits(ids).zipWithNext.map((a, b) => (a, b.isEmpty))
    * }}}
    */
  final def zipWithNext: Stream[(A, Option[A])] = transform(Transformer.WithNext[A]())

  /** Emits each element together with the one before it. For the first element, that is `None`.
    * {{{
    * val gains: Stream[Int] =
    *   Stream(3, 5, 9).zipWithPrevious.collect { case (Some(before), now) => now - before }
    * }}}
    */
  final def zipWithPrevious: Stream[(Option[A], A)] =
    mapAccumulate(Option.empty[A])((before, a) => (Some(a), (before, a)))

  /** Emits `zero`, then for each element the result of `f`. `f` is called with the result before
    * and the element.
    * {{{
    * val balances: Stream[Int] = Stream(100, -30, 20).scan(0)(_ + _) // 0, 100, 70, 90
    * }}}
    */
  final def scan[B](zero: B)(f: (B, A) => B): Stream[B] =
    step(Step.Scan(zero, f.asInstanceOf[(Any, Any) => Any]))

  /** As `scan`, but `f` returns a task, whose value is the next result.
    * {{{
    * val totals: Stream[Int] =
    *   Stream.emits(ids).evalScan(0)((sum, id) => visitsOf(id).map(sum + _))
    * }}}
    */
  final def evalScan[B](zero: B)(f: (B, A) => Task[B]): Stream[B] = Stream.suspend {
    var state = zero
    Stream.emit(zero) ++ evalMap(a =>
      f(state, a).map { b =>
        state = b; b
      }
    )
  }

  /** Calls `f` with a state and each element. `f` returns the next state and a result, which is
    * emitted. The first state is `zero`.
    *
    * {{{
    * val offsets: Stream[Long] =
    *   Stream.linesOf(path).mapAccumulate(0L)((at, line) => (at + line.length, at))
    * }}}
    */
  final def mapAccumulate[S, B](zero: S)(f: (S, A) => (S, B)): Stream[B] =
    step(Step.MapAccumulate(zero, f.asInstanceOf[(Any, Any) => (Any, Any)]))

  /** As `mapAccumulate`, but `f` returns a task, whose value is the next state and the result.
    * {{{
    * val renewed: Stream[String] = Stream.eval(login).flatMap { first =>
    *   Stream.emits(requests).evalMapAccumulate(first) { (token, request) =>
    *     for
    *       valid <- if token.isValid then Task.pure(token) else login
    *       answer <- send(request, valid)
    *     yield (valid, answer)
    *   }
    * }
    * }}}
    */
  final def evalMapAccumulate[S, B](zero: S)(f: (S, A) => Task[(S, B)]): Stream[B] =
    Stream.suspend {
      var state = zero
      evalMap(a =>
        f(state, a).map { (after, b) =>
          state = after; b
        }
      )
    }

  /** Emits the elements in groups of `size`. The last group may be smaller; no group is empty.
    * {{{
    * val stored = Stream.linesOf(path).chunkN(500).evalMap(rows => store(rows.mkString("\n")))
    * }}}
    */
  final def chunkN(size: Int): Stream[Vector[A]] =
    require(size >= 1, s"Stream.chunkN: the size was $size. It must be at least 1.")
    Stream.of(() => ChunkStage(open(), size))

  /** Emits the elements in groups of those that are available without waiting, at most `limit` in a
    * group. Such elements come from a collection, from a block that was read, or together from
    * another fiber. No group is empty.
    *
    * This is for handing elements to another library that takes them in groups: no group waits for
    * further elements, and your code is not run ahead of demand. If only the size of the groups
    * matters, use `chunkN`.
    * {{{
    * val stored = Stream.emits(ids).prefetchN(64).chunks().evalMap(ready => store(s"$ready"))
    * }}}
    */
  final def chunks(limit: Int = 256): Stream[Vector[A]] =
    require(limit >= 1, s"Stream.chunks: the limit was $limit. It must be at least 1.")
    Stream.of(() => ChunksStage(open(), limit))

  /** Emits groups of consecutive elements whose weights add up to at most `limit`. An element that
    * is heavier than `limit` forms a separate group. No group is empty.
    *
    * **Fails** with the error that `weight` throws, and with an `IllegalArgumentException` if it
    * returns less than 0. The elements of the group that was not complete by then are lost.
    * {{{
    * val batches = Stream.linesOf(path).chunkWeighted(10000)(line => line.length.toLong)
    * }}}
    */
  final def chunkWeighted(limit: Long)(weight: A => Long): Stream[Vector[A]] =
    require(
      limit >= 1,
      s"Stream.chunkWeighted: the limit was $limit. It must be at least 1."
    )
    transform(Transformer.Weighted(limit, weight))

  /** Emits windows of `size` consecutive elements. Each window begins `step` elements after the one
    * before it. If elements are left at the end that are in no window, a smaller one with them is
    * emitted last.
    *
    * {{{
    * val means = Stream.emits(List(1.0, 2.0, 4.0)).sliding(2).map(w => w.sum / w.size)
    * }}}
    */
  final def sliding(size: Int, step: Int = 1): Stream[Vector[A]] =
    require(
      size >= 1 && step >= 1,
      s"Stream.sliding: the size was $size and the step $step. They must be at least 1."
    )
    transform(Transformer.Sliding(size, step))

  /** Emits groups of consecutive elements that have the same key, each with its key.
    *
    * {{{
    * val byFolder = Stream.emits(files).groupAdjacentBy(_.getParent)
    * }}}
    */
  final def groupAdjacentBy[K](key: A => K): Stream[(K, Vector[A])] =
    transform(Transformer.Adjacent(key))

  /** Emits the groups of elements between those for which `at` is true, which are dropped. Two such
    * elements in a row have an empty group between them.
    * {{{
    * val paragraphs: Stream[Vector[String]] = Stream.linesOf(path).split(_.isBlank)
    * }}}
    */
  final def split(at: A => Boolean): Stream[Vector[A]] = transform(Transformer.Split(at))

  /** Applies `f` to a resource and each element, and emits the results. The resource is acquired
    * once, when the first element has arrived, and released once, when the stream is over. A stream
    * without elements does not acquire it.
    *
    * The release receives the outcome of the stream, as with `Stream.resource`. If `f` returns a
    * task, add `evalMap(identity)`, which runs it while the resource is open.
    * {{{
    * val totals: Stream[Int] = Stream.emits(ids).mapWithResource(connection)(total)
    * }}}
    */
  final def mapWithResource[R, B](resource: Resource[R])(f: (R, A) => B): Stream[B] =
    Stream.of(() => MapWithResourceStage(open(), resource, f.asInstanceOf[(Any, Any) => Any]))

  private def step[B](step: Step): Stream[B] = Staged(this, step)
