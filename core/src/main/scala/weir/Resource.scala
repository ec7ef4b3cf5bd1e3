package weir

import java.util.concurrent.TimeoutException
import scala.concurrent.duration.FiniteDuration
import weir.fiber.{Defer, Handle}
import weir.group.{ErrorHandler, Failures, Finalizers}
import weir.task.Guarantee

/** A description of something that is acquired, used, and released.
  *
  * Whatever was acquired is released exactly once, however its use ends, in reverse order;
  * resources that were acquired at the same time are released at the same time. Acquiring and
  * releasing are masked; between two resources, and while one is used, the fiber may be cancelled.
  */
abstract class Resource[+A] private[weir] ():

  /** Acquires, and adds to `into` the finalizers of what was acquired, whether this ends well or
    * not.
    */
  private[weir] def allocate(into: Finalizers): Task[A]

  // ---- using it ----

  /** What `f` returns for the resource, which has been released by then.
    *
    * **Cancelled**: releases, and the cancel waits for that. **Fails** with the error of acquiring
    * or of `f`, errors of releasing suppressed under it; with the first error of releasing if all
    * else went well.
    * {{{
    * val names = connection.use(c => Task(c.getSchema))
    * }}}
    */
  final def use[B](f: A => Task[B]): Task[B] = Task.uncancelable { poll =>
    val finalizers = Finalizers()
    Guarantee(poll(Defer(() => allocate(finalizers)).flatMap(f)), finalizers.release)
  }

  /** Never a value: holds the resource until the task is cancelled. */
  final def useForever: Task[Nothing] = use(_ => Task.never)

  /** What the task that is the resource returns. */
  final def useEval[B](using task: A <:< Task[B]): Task[B] = use(task)

  /** The resource, and the task that releases it: once, also if it is run twice.
    *
    * **Cancelled** while it acquires: releases what it has acquired. A cancel that comes as this
    * ends may lose the result, and then nothing releases it: so run this inside of
    * `Task.uncancelable`, up to the point at which the release is safely kept. `use` needs no such
    * care.
    */
  final def allocated: Task[(A, Task[Unit])] =
    allocatedWith(release => release(Outcome.Succeeded(())))

  /** As `allocated`; the release is told how the use has ended. */
  final def allocatedCase: Task[(A, Outcome[Any] => Task[Unit])] = allocatedWith(identity)

  private def allocatedWith[B](f: (Outcome[Any] => Task[Unit]) => B): Task[(A, B)] =
    Task.uncancelable { poll =>
      val finalizers = Finalizers()
      val acquired = Guarantee(
        poll(Defer(() => allocate(finalizers))),
        {
          case Outcome.Succeeded(_) => Task.unit
          case other => finalizers.release(other)
        }
      )
      acquired.map(a => (a, f(outcome => Task.uncancelable(_ => finalizers.release(outcome)))))
    }

  // ---- one after the other ----

  /** `f` of this resource. */
  final def map[B](f: A => B): Resource[B] = Resource.of(into => Defer(() => allocate(into)).map(f))

  /** The resource that `f` makes of this one. It is released before this one. */
  final def flatMap[B](f: A => Resource[B]): Resource[B] =
    Resource.of(into => Defer(() => allocate(into)).flatMap(a => f(a).allocate(into)))

  /** The value of the task that `f` makes of this resource. It may be cancelled. */
  final def evalMap[B](f: A => Task[B]): Resource[B] =
    Resource.of(into => Defer(() => allocate(into)).flatMap(f))

  /** This resource, once the task that `f` makes of it has run. It may be cancelled. */
  final def evalTap(f: A => Task[Any]): Resource[A] = evalMap(a => f(a).as(a))

  /** This resource; `finalizer` runs once after its release, and also if it could not be acquired.
    */
  final def onFinalize(finalizer: Task[Unit]): Resource[A] = onFinalizeCase(_ => finalizer)

  /** As `onFinalize`, with a finalizer that is told how the use has ended. */
  final def onFinalizeCase(finalizer: Outcome[Unit] => Task[Unit]): Resource[A] =
    Resource.of { into =>
      Defer { () =>
        into.add(finalizer)
        allocate(into)
      }
    }

  /** This resource and `other`, acquired at the same time and released at the same time: see
    * `Resource.both`.
    * {{{
    * val clients: Resource[(Client, Client)] = clientOf(config).both(clientOf(config))
    * }}}
    */
  final def both[B](other: Resource[B]): Resource[(A, B)] = Resource.both(this, other)

  // ---- errors ----

  /** This resource. **Fails** with a `java.util.concurrent.TimeoutException` if acquiring it takes
    * longer than `limit`. Then the acquiring has been cancelled, and what was acquired has been
    * released. The time of the use does not count.
    *
    * Acquiring that is masked, as with `Resource.make`, cannot be cancelled: the error comes when
    * it has ended, and what it has acquired too late is released, not used.
    * {{{
    * val names = connection.timeout(5.seconds).use(c => Task(c.getSchema))
    * }}}
    */
  final def timeout(limit: FiniteDuration): Resource[A] = Resource.of { into =>
    // `cede` sees a cancel that came while the acquiring was masked.
    Defer(() => allocate(into))
      .flatTap(_ => Task.cede)
      .timeoutTo(
        limit,
        Task.defer(Task.fail(TimeoutException(s"The resource was not acquired within $limit.")))
      )
  }

  /** This resource; if it cannot be acquired, the one that `f` makes of the error. What was
    * acquired of this one is released before. Errors of the use do not come to `f`.
    */
  final def handleErrorWith[B >: A](f: Throwable => Resource[B]): Resource[B] =
    Resource.of { into =>
      Defer { () =>
        val own = Finalizers()
        into.add(own.release)
        Handle(
          allocate(own),
          error =>
            Task
              .uncancelable(_ => own.release(Outcome.Failed(error)))
              .handleError(later => Failures.add(error, later): Unit)
              .andThen(ErrorHandler.call(f, error).allocate(into))
        )
      }
    }

  /** The resource on the right, or the error of acquiring it on the left. */
  final def attempt: Resource[Either[Throwable, A]] =
    map(a => Right(a)).handleErrorWith(error => Resource.pure(Left(error)))

object Resource:
  private def of[A](acquire: Finalizers => Task[A]): Resource[A] = new Resource[A]:
    private[weir] def allocate(into: Finalizers): Task[A] = acquire(into)

  /** What `acquire` returns, which `release` of it releases. Both are masked. Where `acquire`
    * fails, nothing is released.
    * {{{
    * val temporary: Resource[java.nio.file.Path] =
    *   Resource.make(Task(Files.createTempFile("a", ".txt")))(path => Task(Files.delete(path)))
    * }}}
    */
  def make[A](acquire: Task[A])(release: A => Task[Unit]): Resource[A] =
    makeFull(_ => acquire)((a, _) => release(a))

  /** As `make`; the release is told how the use has ended: to commit, or to roll back. */
  def makeCase[A](acquire: Task[A])(release: (A, Outcome[Unit]) => Task[Unit]): Resource[A] =
    makeFull(_ => acquire)(release)

  /** As `makeCase`; the part of `acquire` that is given to the poll may be cancelled: a wait,
    * before there is anything to release.
    */
  def makeFull[A](acquire: Poll => Task[A])(
      release: (A, Outcome[Unit]) => Task[Unit]
  ): Resource[A] =
    of(into =>
      Task.uncancelable(poll =>
        acquire(poll).map { a =>
          into.add(release(a, _))
          a
        }
      )
    )

  /** What `acquire` returns, which is closed afterwards. */
  def fromAutoCloseable[A <: AutoCloseable](acquire: Task[A]): Resource[A] =
    make(acquire)(closeable => Task(closeable.close()))

  /** `value`, with nothing to release. */
  def pure[A](value: A): Resource[A] = eval(Task.pure(value))

  /** Nothing, with nothing to release. */
  val unit: Resource[Unit] = pure(())

  /** The value of `task`, with nothing to release. It may be cancelled. */
  def eval[A](task: Task[A]): Resource[A] = of(_ => task)

  /** The resource that `resource` makes, anew for each use. */
  def defer[A](resource: => Resource[A]): Resource[A] =
    of(into => Defer(() => resource.allocate(into)))

  /** Both, acquired at the same time, and released at the same time. **Fails** if one cannot be
    * acquired; the acquiring of the other one is then cancelled, and what was acquired of it
    * released.
    */
  def both[A, B](left: Resource[A], right: Resource[B]): Resource[(A, B)] =
    parSequence(List[Resource[A | B]](left, right)).map { case values =>
      (values(0).asInstanceOf[A], values(1).asInstanceOf[B])
    }

  /** All of `resources`, in their order, acquired at the same time and released at the same time.
    * **Fails** as `both`.
    */
  def parSequence[A](resources: Iterable[Resource[A]]): Resource[List[A]] = of { into =>
    Defer { () =>
      val parts = resources.iterator.map(resource => (resource, Finalizers())).toList
      into.add(Finalizers.releaseTogether(parts.map(_._2).toIndexedSeq))
      Task.parTraverse(parts)((resource, own) => resource.allocate(own))
    }
  }
