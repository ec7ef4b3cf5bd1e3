package weir

import scala.annotation.implicitNotFound
import scala.collection.BuildFrom
import weir.fiber.{Defer, Pure}
import weir.task.*

/** The operators of `Task` that take many tasks, or that make a task from each item of a
  * collection.
  *
  * Operators without `par` in their name run the tasks one after the other. The others run them
  * concurrently: all at once, or, with `N` in their name, at most a given number at a time. The
  * first failure cancels the other tasks, and is thrown once they have ended.
  *
  * "A collection of the same kind" is chosen by the type of the items that the compiler knows: for
  * a `Set`, equal values appear once.
  */
private[weir] transparent trait TaskCollections:

  // ---- one after the other ----

  /** Runs `tasks` in order and returns their values in a collection of the same kind.
    * {{{
    * val users: Task[List[User]] = Task.sequence(ids.map(load))
    * }}}
    */
  def sequence[A, C[X] <: Iterable[X]](tasks: C[Task[A]])(using
      build: BuildFrom[C[Task[A]], A, C[A]]
  ): Task[C[A]] = Built(tasks, Sequence(tasks))

  /** Runs the task that `f` returns for each item, in order, and returns their values in a
    * collection of the same kind. `f` is called for an item when the task before it has ended.
    * {{{
    * val sizes: Task[Vector[Long]] = Task.traverse(Vector(path))(path => Task(Files.size(path)))
    * }}}
    */
  def traverse[A, B, C[X] <: Iterable[X]](items: C[A])(f: A => Task[B])(using
      build: BuildFrom[C[A], B, C[B]]
  ): Task[C[B]] = Built(items, Traverse(items, f))

  /** Runs the task that `f` returns for each item, in order, and keeps no values.
    * {{{
    * val printed: Task[Unit] = Task.foreach(files)(path => Task(println(Files.size(path))))
    * }}}
    */
  def foreach[A](items: Iterable[A])(f: A => Task[Any]): Task[Unit] = Foreach(items, f)

  /** Calls `f` with the result so far and each item, in order, and runs the task that it returns,
    * whose value is the next result. Returns the last result. The first result is `zero`.
    * {{{
    * val total = Task.fold(files)(0L)((sum, file) => Task(sum + Files.size(file)))
    * }}}
    */
  def fold[A, B](items: Iterable[A])(zero: B)(f: (B, A) => Task[B]): Task[B] =
    Defer { () =>
      val left = items.iterator
      def from(b: B): Task[B] = if left.hasNext then f(b, left.next()).flatMap(from) else Pure(b)
      from(zero)
    }

  /** Returns the items for which the task that `keep` returns gives true. The tasks run one after
    * the other.
    * {{{
    * val folders = Task.filter(files)(path => Task(Files.isDirectory(path)))
    * }}}
    */
  def filter[A](items: Iterable[A])(keep: A => Task[Boolean]): Task[List[A]] =
    Kept.of(Traverse(items, Kept(keep)))

  /** Runs the task that `f` returns for each item, in order, also after a failure. Returns their
    * values if all succeed, or else the errors of all that fail, in the order of the items.
    * {{{
    * Task.validate(fields)(check).map {
    *   case Right(values) => Saved(values)
    *   case Left(errors) => Refused(errors.map(_.getMessage))
    * }
    * }}}
    */
  def validate[A, B](items: Iterable[A])(f: A => Task[B]): Task[Either[List[Throwable], List[B]]] =
    Validated.of(Traverse(items, item => Defer(() => f(item)).attempt))

  // ---- concurrently ----

  /** Runs `tasks` concurrently and returns their values in a collection of the same kind, in the
    * order of `tasks`.
    * {{{
    * val users: Task[List[User]] = Task.parSequence(ids.map(load))
    * }}}
    */
  def parSequence[A, C[X] <: Iterable[X]](tasks: C[Task[A]])(using
      build: BuildFrom[C[Task[A]], A, C[A]]
  ): Task[C[A]] = Built(tasks, ParTraverse(Int.MaxValue, tasks, identity, unordered = false))

  /** As `parSequence`, but runs at most `parallelism` tasks at a time. **Fails** with an
    * `IllegalArgumentException` if that is below 1.
    */
  def parSequenceN[A, C[X] <: Iterable[X]](parallelism: Int)(tasks: C[Task[A]])(using
      build: BuildFrom[C[Task[A]], A, C[A]]
  ): Task[C[A]] = Built(tasks, ParTraverse(parallelism, tasks, identity, unordered = false))

  /** Runs `tasks` concurrently and returns their values in the order in which they end. */
  def parSequenceUnordered[A](tasks: Iterable[Task[A]]): Task[List[A]] =
    ParTraverse(Int.MaxValue, tasks, identity, unordered = true)

  /** As `parSequenceUnordered`, but runs at most `parallelism` tasks at a time. */
  def parSequenceUnorderedN[A](parallelism: Int)(tasks: Iterable[Task[A]]): Task[List[A]] =
    ParTraverse(parallelism, tasks, identity, unordered = true)

  /** Runs the task that `f` returns for each item, concurrently, and returns their values in a
    * collection of the same kind, in the order of `items`.
    * {{{
    * val pages: Task[List[String]] = Task.parTraverse(urls)(url => Task(fetch(url)))
    * }}}
    */
  def parTraverse[A, B, C[X] <: Iterable[X]](items: C[A])(f: A => Task[B])(using
      build: BuildFrom[C[A], B, C[B]]
  ): Task[C[B]] = Built(items, ParTraverse(Int.MaxValue, items, f, unordered = false))

  /** As `parTraverse`, but runs at most `parallelism` tasks at a time. **Fails** with an
    * `IllegalArgumentException` if that is below 1.
    * {{{
    * val pages: Task[List[String]] = Task.parTraverseN(8)(urls)(url => Task(fetch(url)))
    * }}}
    */
  def parTraverseN[A, B, C[X] <: Iterable[X]](
      parallelism: Int
  )(items: C[A])(f: A => Task[B])(using build: BuildFrom[C[A], B, C[B]]): Task[C[B]] =
    Built(items, ParTraverse(parallelism, items, f, unordered = false))

  /** Runs the task that `f` returns for each item, concurrently, and returns their values in the
    * order in which they end.
    */
  def parTraverseUnordered[A, B](items: Iterable[A])(f: A => Task[B]): Task[List[B]] =
    ParTraverse(Int.MaxValue, items, f, unordered = true)

  /** As `parTraverseUnordered`, but runs at most `parallelism` tasks at a time. */
  def parTraverseUnorderedN[A, B](
      parallelism: Int
  )(items: Iterable[A])(f: A => Task[B]): Task[List[B]] =
    ParTraverse(parallelism, items, f, unordered = true)

  /** Runs the task that `f` returns for each item, all of them concurrently, and keeps no values.
    */
  def parForeach[A](items: Iterable[A])(f: A => Task[Any]): Task[Unit] =
    ParForeach(Int.MaxValue, items, f)

  /** As `parForeach`, but runs at most `parallelism` tasks at a time. Takes the items one by one: a
    * million of them cost no more memory than `parallelism` items. **Fails** with an
    * `IllegalArgumentException` if `parallelism` is below 1.
    * {{{
    * Task.parForeachN(100)(urls)(url => Task(fetch(url)).flatMap(store))
    * }}}
    */
  def parForeachN[A](parallelism: Int)(items: Iterable[A])(f: A => Task[Any]): Task[Unit] =
    ParForeach(parallelism, items, f)

  /** Returns the items for which the task that `keep` returns gives true, in the order of `items`.
    * The tasks run concurrently.
    * {{{
    * val known = Task.parFilter(ids)(id => visitsOf(id).map(_ > 0))
    * }}}
    */
  def parFilter[A](items: Iterable[A])(keep: A => Task[Boolean]): Task[List[A]] =
    parFilterN(Int.MaxValue)(items)(keep)

  /** As `parFilter`, but runs at most `parallelism` tasks at a time. */
  def parFilterN[A](parallelism: Int)(items: Iterable[A])(keep: A => Task[Boolean]): Task[List[A]] =
    Kept.of(ParTraverse(parallelism, items, Kept(keep), unordered = false))

  /** As `validate`, but runs all tasks concurrently. */
  def parValidate[A, B](items: Iterable[A])(
      f: A => Task[B]
  ): Task[Either[List[Throwable], List[B]]] =
    parValidateN(Int.MaxValue)(items)(f)

  /** As `parValidate`, but runs at most `parallelism` tasks at a time. */
  def parValidateN[A, B](
      parallelism: Int
  )(items: Iterable[A])(f: A => Task[B]): Task[Either[List[Throwable], List[B]]] =
    Validated.of(
      ParTraverse(parallelism, items, item => Defer(() => f(item)).attempt, unordered = false)
    )

  // ---- the first of many ----

  /** Runs both tasks concurrently and returns the value of the one that ends first, once the other
    * has been cancelled and its finalizers have run. **Fails** if the task that ends first fails.
    *
    * A single operation that takes or hands over something, such as a queue's `take`, wins over a
    * `Task.sleep` that ends at the same time, so that the taken value is not lost. For a task of
    * several steps, use `timeout`.
    */
  def race[A, B](left: Task[A], right: Task[B]): Task[Either[A, B]] =
    Race(left, right, cancelEnds = false)

  /** As `race`, but a task that cancels itself ends the race, and cancels the fiber too, unless the
    * other task has ended with a value or an error before it was cancelled. It is the `race` of
    * Cats Effect. As there, it never ends if the fiber is masked, since a masked fiber cannot be
    * cancelled.
    * {{{
    * val first: Task[Either[String, String]] = Task.raceFirst(ask("a.example"), ask("b.example"))
    * }}}
    */
  def raceFirst[A, B](left: Task[A], right: Task[B]): Task[Either[A, B]] =
    Race(left, right, cancelEnds = true)

  /** Runs each task on a separate fiber. Returns the outcome of the fiber that ends first, and the
    * other fiber, which continues: the caller has to cancel or join it.
    *
    * **Waits** until one fiber ends. **Cancelled** while it waits: cancels both fibers, and waits
    * for their finalizers. A later cancel reaches neither, so run this under a mask, as Cats Effect
    * advises for its own.
    * {{{
    * val fastest = Task.racePair(ask("a.example"), ask("b.example")).flatMap {
    *   case Left((a, other)) => other.cancel.as(a)
    *   case Right((other, b)) => other.cancel.as(b)
    * }
    * }}}
    */
  def racePair[A, B](
      left: Task[A],
      right: Task[B]
  ): Task[Either[(Outcome[A], Fiber[B]), (Fiber[A], Outcome[B])]] = RacePair(left, right)

  /** As `race`, for any number of tasks: returns the value of the one that ends first, once the
    * others have been cancelled and their finalizers have run. **Fails** if the first one to end
    * fails. A task that cancels itself does not count.
    * {{{
    * val first: Task[String] = Task.raceAll(servers.map(ask))
    * }}}
    */
  def raceAll[A](tasks: Iterable[Task[A]]): Task[A] =
    FirstSuccess(tasks.map(_.attempt), "raceAll")
      .map(_.fold(throw _, identity)) // does not check for a cancel

  /** Runs `tasks` concurrently and returns the value of the first one that succeeds, once the
    * others have been cancelled and their finalizers have run. **Fails** if none succeeds: with the
    * first error, under which later ones are suppressed. A task that cancels itself does not count.
    */
  def firstSuccess[A](tasks: Iterable[Task[A]]): Task[A] = FirstSuccess(tasks, "firstSuccess")

  // ---- several of different types ----

  /** Runs both tasks concurrently and returns both values.
    * {{{
    * val both: Task[(User, Int)] = Task.both(load(id), visitsOf(id))
    * }}}
    */
  def both[A, B](left: Task[A], right: Task[B]): Task[(A, B)] = parZip(left, right)

  /** Runs the tasks of a tuple in order and returns their values.
    * {{{
    * val both: Task[(User, Int)] = Task.zip(load(id), visitsOf(id))
    * }}}
    */
  def zip[T <: NonEmptyTuple](tasks: T)(using Tasks[T]): Task[Values[T]] =
    Zip(Sequence(Zip.list(tasks)))

  /** As `zip`, but runs the tasks concurrently. **Fails** as soon as one fails, once the others
    * have been cancelled.
    * {{{
    * for (user, orders, visits) <- Task.parZip(load(id), ordersOf(id), visitsOf(id))
    * yield Page(user, orders, visits)
    * }}}
    */
  def parZip[T <: NonEmptyTuple](tasks: T)(using Tasks[T]): Task[Values[T]] =
    Zip(ParTraverse(Int.MaxValue, Zip.list(tasks), identity, unordered = false))

  /** Runs the tasks of a tuple concurrently and returns the result of `f` for their values: see
    * `parZip`.
    * {{{
    * val page = Task.parMap(load(id), ordersOf(id), visitsOf(id))(Page(_, _, _))
    * }}}
    */
  def parMap[T <: NonEmptyTuple, B](tasks: T)(f: Values[T] => B)(using Tasks[T]): Task[B] =
    parZip(tasks).map(f)

  /** The tuple of the values of a tuple of tasks: `(A, B)` for `(Task[A], Task[B])`. */
  type Values[T <: Tuple] <: Tuple = T match
    case EmptyTuple => EmptyTuple
    case Task[a] *: rest => a *: Values[rest]

  /** Evidence that each element of the tuple `T` is a task. */
  @implicitNotFound(
    "zip, parZip and parMap take tasks: Task.zip(a, b, c). Not all of these are: ${T}"
  )
  sealed trait Tasks[T <: Tuple]

  object Tasks extends Tasks[EmptyTuple]:
    given none: Tasks[EmptyTuple] = this
    given more: [A, T <: Tuple] => Tasks[T] => Tasks[Task[A] *: T] = this.asInstanceOf
