package weir

import scala.annotation.implicitNotFound
import scala.collection.BuildFrom
import weir.fiber.{Defer, Pure}
import weir.task.*

/** The operators of `Task` that take many tasks, or make one of each item of a collection.
  *
  * Those without `par` in their name run the tasks one after the other. The others run them
  * concurrently: without a number all at once, with `N` at most so many; the first failure cancels
  * the others, and is thrown once they have ended.
  *
  * A collection of the same kind as the items is one for their type as it is known to the compiler:
  * of a set it has equal values once.
  */
private[weir] transparent trait TaskCollections:

  // ---- one after the other ----

  /** The values of `tasks`, run in order, in a collection of the same kind.
    * {{{
    * val users: Task[List[User]] = Task.sequence(ids.map(load))
    * }}}
    */
  def sequence[A, C[X] <: Iterable[X]](tasks: C[Task[A]])(using
      build: BuildFrom[C[Task[A]], A, C[A]]
  ): Task[C[A]] = Built(tasks, Sequence(tasks))

  /** The values of the tasks that `f` makes of `items`, made and run in order, in a collection of
    * the same kind.
    * {{{
    * val sizes: Task[Vector[Long]] = Task.traverse(Vector(path))(path => Task(Files.size(path)))
    * }}}
    */
  def traverse[A, B, C[X] <: Iterable[X]](items: C[A])(f: A => Task[B])(using
      build: BuildFrom[C[A], B, C[B]]
  ): Task[C[B]] = Built(items, Traverse(items, f))

  /** Runs the tasks that `f` makes of `items` in order, and keeps nothing.
    * {{{
    * val printed: Task[Unit] = Task.foreach(files)(path => Task(println(Files.size(path))))
    * }}}
    */
  def foreach[A](items: Iterable[A])(f: A => Task[Any]): Task[Unit] = Foreach(items, f)

  /** The last of the values that `f` makes of `zero` and the items, one after the other.
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

  /** The items of which `keep` returns true, asked one after the other.
    * {{{
    * val folders = Task.filter(files)(path => Task(Files.isDirectory(path)))
    * }}}
    */
  def filter[A](items: Iterable[A])(keep: A => Task[Boolean]): Task[List[A]] =
    Kept.of(Traverse(items, Kept(keep)))

  /** The values of the tasks that `f` makes of `items`, made and run in order; if any fails, the
    * errors of all that do, in the order of the items. All tasks run.
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

  /** The values of `tasks`, run concurrently, in a collection of the same kind, in the order of
    * `tasks`.
    * {{{
    * val users: Task[List[User]] = Task.parSequence(ids.map(load))
    * }}}
    */
  def parSequence[A, C[X] <: Iterable[X]](tasks: C[Task[A]])(using
      build: BuildFrom[C[Task[A]], A, C[A]]
  ): Task[C[A]] = Built(tasks, ParTraverse(Int.MaxValue, tasks, identity, unordered = false))

  /** As `parSequence`; at most `parallelism` of the tasks have begun and not ended. **Fails** with
    * an `IllegalArgumentException` if that is below 1.
    */
  def parSequenceN[A, C[X] <: Iterable[X]](parallelism: Int)(tasks: C[Task[A]])(using
      build: BuildFrom[C[Task[A]], A, C[A]]
  ): Task[C[A]] = Built(tasks, ParTraverse(parallelism, tasks, identity, unordered = false))

  /** The values of `tasks`, run concurrently, in the order in which they end. */
  def parSequenceUnordered[A](tasks: Iterable[Task[A]]): Task[List[A]] =
    ParTraverse(Int.MaxValue, tasks, identity, unordered = true)

  /** As `parSequenceUnordered`; at most `parallelism` have begun and not ended. */
  def parSequenceUnorderedN[A](parallelism: Int)(tasks: Iterable[Task[A]]): Task[List[A]] =
    ParTraverse(parallelism, tasks, identity, unordered = true)

  /** The values of the tasks that `f` makes of `items`, run concurrently, in a collection of the
    * same kind, in the order of `items`.
    * {{{
    * val pages: Task[List[String]] = Task.parTraverse(urls)(url => Task(fetch(url)))
    * }}}
    */
  def parTraverse[A, B, C[X] <: Iterable[X]](items: C[A])(f: A => Task[B])(using
      build: BuildFrom[C[A], B, C[B]]
  ): Task[C[B]] = Built(items, ParTraverse(Int.MaxValue, items, f, unordered = false))

  /** As `parTraverse`; at most `parallelism` of the tasks have begun and not ended. **Fails** with
    * an `IllegalArgumentException` if that is below 1.
    * {{{
    * val pages: Task[List[String]] = Task.parTraverseN(8)(urls)(url => Task(fetch(url)))
    * }}}
    */
  def parTraverseN[A, B, C[X] <: Iterable[X]](
      parallelism: Int
  )(items: C[A])(f: A => Task[B])(using build: BuildFrom[C[A], B, C[B]]): Task[C[B]] =
    Built(items, ParTraverse(parallelism, items, f, unordered = false))

  /** The values of the tasks that `f` makes of `items`, run concurrently, in the order in which
    * they end.
    */
  def parTraverseUnordered[A, B](items: Iterable[A])(f: A => Task[B]): Task[List[B]] =
    ParTraverse(Int.MaxValue, items, f, unordered = true)

  /** As `parTraverseUnordered`; at most `parallelism` have begun and not ended. */
  def parTraverseUnorderedN[A, B](
      parallelism: Int
  )(items: Iterable[A])(f: A => Task[B]): Task[List[B]] =
    ParTraverse(parallelism, items, f, unordered = true)

  /** Runs the tasks that `f` makes of `items` concurrently, all at once, and keeps nothing. */
  def parForeach[A](items: Iterable[A])(f: A => Task[Any]): Task[Unit] =
    ParForeach(Int.MaxValue, items, f)

  /** As `parForeach`, at most `parallelism` at a time: items are taken one by one, and a million of
    * them cost no more memory than `parallelism`. **Fails** with an `IllegalArgumentException` if
    * that is below 1.
    * {{{
    * Task.parForeachN(100)(urls)(url => Task(fetch(url)).flatMap(store))
    * }}}
    */
  def parForeachN[A](parallelism: Int)(items: Iterable[A])(f: A => Task[Any]): Task[Unit] =
    ParForeach(parallelism, items, f)

  /** The items of which `keep` returns true, asked concurrently, in the order of `items`.
    * {{{
    * val known = Task.parFilter(ids)(id => visitsOf(id).map(_ > 0))
    * }}}
    */
  def parFilter[A](items: Iterable[A])(keep: A => Task[Boolean]): Task[List[A]] =
    parFilterN(Int.MaxValue)(items)(keep)

  /** As `parFilter`, at most `parallelism` asked at a time. */
  def parFilterN[A](parallelism: Int)(items: Iterable[A])(keep: A => Task[Boolean]): Task[List[A]] =
    Kept.of(ParTraverse(parallelism, items, Kept(keep), unordered = false))

  /** As `validate`; all tasks run concurrently. */
  def parValidate[A, B](items: Iterable[A])(
      f: A => Task[B]
  ): Task[Either[List[Throwable], List[B]]] =
    parValidateN(Int.MaxValue)(items)(f)

  /** As `validate`; at most `parallelism` of the tasks have begun and not ended. */
  def parValidateN[A, B](
      parallelism: Int
  )(items: Iterable[A])(f: A => Task[B]): Task[Either[List[Throwable], List[B]]] =
    Validated.of(
      ParTraverse(parallelism, items, item => Defer(() => f(item)).attempt, unordered = false)
    )

  // ---- the first of many ----

  /** The value of the task that ends first. The other has been cancelled, and its finalizers have
    * run. **Fails** if the task that ends first does.
    *
    * A single operation that takes or hands over something, such as a queue's `take`, wins over a
    * `Task.sleep` that ends at the same time, so that nothing that was taken is lost. For a task of
    * several steps, use `timeout`.
    */
  def race[A, B](left: Task[A], right: Task[B]): Task[Either[A, B]] =
    Race(left, right, cancelEnds = false)

  /** As `race`, but a task that cancels itself does not leave the race to the other one: it ends
    * the race, and cancels the fiber too, unless the other has ended with a value or an error
    * before its own cancel. It is the `race` of Cats Effect; as there, it never ends where the
    * fiber is masked, so that it cannot be cancelled.
    * {{{
    * val first: Task[Either[String, String]] = Task.raceFirst(ask("a.example"), ask("b.example"))
    * }}}
    */
  def raceFirst[A, B](left: Task[A], right: Task[B]): Task[Either[A, B]] =
    Race(left, right, cancelEnds = true)

  /** How the one of two fibers has ended that ended first, and the other one, which goes on: the
    * caller has to cancel or join it.
    *
    * **Waits** until one ends. **Cancelled** while it waits: cancels both, and waits for their
    * finalizers. A cancel that comes later reaches neither: so run this under a mask, as Cats
    * Effect says of its own.
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

  /** As `race`, of any number: the value of the one that ends first. The others have been
    * cancelled, and their finalizers have run. **Fails** if the first one to end does. One that
    * cancels itself is out of the race.
    * {{{
    * val first: Task[String] = Task.raceAll(servers.map(ask))
    * }}}
    */
  def raceAll[A](tasks: Iterable[Task[A]]): Task[A] =
    FirstSuccess(tasks.map(_.attempt), "raceAll")
      .map(_.fold(throw _, identity)) // no look for a cancel

  /** The value of the first task to succeed; the others have been cancelled, and their finalizers
    * have run. **Fails** if none succeeds: with the first error, later ones suppressed under it. A
    * task that cancels itself does not count.
    */
  def firstSuccess[A](tasks: Iterable[Task[A]]): Task[A] = FirstSuccess(tasks, "firstSuccess")

  // ---- several of different types ----

  /** Both values; the tasks run concurrently.
    * {{{
    * val both: Task[(User, Int)] = Task.both(load(id), visitsOf(id))
    * }}}
    */
  def both[A, B](left: Task[A], right: Task[B]): Task[(A, B)] = parZip(left, right)

  /** The values of `tasks`, run in order.
    * {{{
    * val both: Task[(User, Int)] = Task.zip(load(id), visitsOf(id))
    * }}}
    */
  def zip[T <: NonEmptyTuple](tasks: T)(using Tasks[T]): Task[Values[T]] =
    Zip(Sequence(Zip.list(tasks)))

  /** As `zip`; the tasks run concurrently. **Fails** as soon as one does, once the others have been
    * cancelled.
    * {{{
    * for (user, orders, visits) <- Task.parZip(load(id), ordersOf(id), visitsOf(id))
    * yield Page(user, orders, visits)
    * }}}
    */
  def parZip[T <: NonEmptyTuple](tasks: T)(using Tasks[T]): Task[Values[T]] =
    Zip(ParTraverse(Int.MaxValue, Zip.list(tasks), identity, unordered = false))

  /** `f` of the values of `tasks`, which run concurrently: see `parZip`.
    * {{{
    * val page = Task.parMap(load(id), ordersOf(id), visitsOf(id))(Page(_, _, _))
    * }}}
    */
  def parMap[T <: NonEmptyTuple, B](tasks: T)(f: Values[T] => B)(using Tasks[T]): Task[B] =
    parZip(tasks).map(f)

  /** The values of a tuple of tasks: `(A, B)` for `(Task[A], Task[B])`. */
  type Values[T <: Tuple] <: Tuple = T match
    case EmptyTuple => EmptyTuple
    case Task[a] *: rest => a *: Values[rest]

  /** Says that each element of the tuple `T` is a task. */
  @implicitNotFound(
    "zip, parZip and parMap take tasks: Task.zip(a, b, c). Not all of these are: ${T}"
  )
  sealed trait Tasks[T <: Tuple]

  object Tasks extends Tasks[EmptyTuple]:
    given none: Tasks[EmptyTuple] = this
    given more: [A, T <: Tuple] => Tasks[T] => Tasks[Task[A] *: T] = this.asInstanceOf
