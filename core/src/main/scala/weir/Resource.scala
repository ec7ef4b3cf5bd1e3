package weir

import java.util.concurrent.TimeoutException
import scala.concurrent.duration.FiniteDuration
import weir.fiber.{Defer, Handle}
import weir.group.{ErrorHandler, Failures, Finalizers}
import weir.runtime.DurationText
import weir.task.Guarantee

/** A description of a resource: something that is acquired, used, and released.
  *
  * Everything that was acquired is released exactly once, in reverse order, however its use ends.
  * Resources that were acquired concurrently are released concurrently. Acquiring and releasing are
  * masked. Between two resources, and while one is used, the fiber may be cancelled.
  */
abstract class Resource[+A] private[weir] ():

  /** Acquires the resource, and adds the finalizers of its acquired parts to `into`, whether this
    * succeeds or not.
    */
  private[weir] def allocate(into: Finalizers): Task[A]

  // ---- using it ----

  /** Acquires the resource, runs `f` with it, releases it, and returns the value of the task.
    *
    * **Cancelled**: releases the resource, and the cancel waits for that. **Fails** with the error
    * of acquiring or of `f`, under which errors of releasing are suppressed. If only releasing
    * fails, fails with its first error.
    * {{{
    * val names = connection.use(c => Task(c.getSchema))
    * }}}
    */
  final def use[B](f: A => Task[B]): Task[B] = Task.uncancelable { poll =>
    val finalizers = Finalizers()
    Guarantee(poll(Defer(() => allocate(finalizers)).flatMap(f)), finalizers.release)
  }

  /** Acquires the resource and holds it until the task is cancelled. Never returns a value. */
  final def useForever: Task[Nothing] = use(_ => Task.never)

  /** Acquires the resource, which is a task, runs that task, releases the resource, and returns the
    * value of the task.
    */
  final def useEval[B](using task: A <:< Task[B]): Task[B] = use(task)

  /** Acquires the resource and returns it together with the task that releases it. That task
    * releases it once, even if it is run twice.
    *
    * **Cancelled** while it acquires: releases the parts that it has acquired. A cancel that comes
    * as this task ends may lose the result, and then nothing releases the resource. So run this
    * inside of `Task.uncancelable`, up to the point at which the release is safely kept. `use`
    * needs no such care.
    */
  final def allocated: Task[(A, Task[Unit])] =
    allocatedWith(release => release(Outcome.Succeeded(())))

  /** As `allocated`, but passes the outcome of the use to the release. */
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

  /** Applies `f` to this resource. */
  final def map[B](f: A => B): Resource[B] = Resource.of(into => Defer(() => allocate(into)).map(f))

  /** Acquires this resource, then the one that `f` returns for it. The second one is released
    * before this one.
    */
  final def flatMap[B](f: A => Resource[B]): Resource[B] =
    Resource.of(into => Defer(() => allocate(into)).flatMap(a => f(a).allocate(into)))

  /** Acquires this resource, then runs the task that `f` returns for it, whose value is the new
    * resource. The task can be cancelled.
    */
  final def evalMap[B](f: A => Task[B]): Resource[B] =
    Resource.of(into => Defer(() => allocate(into)).flatMap(f))

  /** Acquires this resource, then runs the task that `f` returns for it. The task can be cancelled.
    */
  final def evalTap(f: A => Task[Any]): Resource[A] = evalMap(a => f(a).as(a))

  /** Runs `finalizer` once after the release of this resource, and also if it could not be
    * acquired.
    */
  final def onFinalize(finalizer: Task[Unit]): Resource[A] = onFinalizeCase(_ => finalizer)

  /** As `onFinalize`, but passes the outcome of the use to the finalizer. */
  final def onFinalizeCase(finalizer: Outcome[Unit] => Task[Unit]): Resource[A] =
    Resource.of { into =>
      Defer { () =>
        into.add(finalizer)
        allocate(into)
      }
    }

  /** Acquires this resource and `other` concurrently, and releases them concurrently: see
    * `Resource.both`.
    * {{{
    * val clients: Resource[(Client, Client)] = clientOf(config).both(clientOf(config))
    * }}}
    */
  final def both[B](other: Resource[B]): Resource[(A, B)] = Resource.both(this, other)

  // ---- errors ----

  /** Acquires this resource. **Fails** with a `java.util.concurrent.TimeoutException` if that takes
    * longer than `limit`. Then the acquisition has been cancelled, and its acquired parts have been
    * released. The time of the use does not count.
    *
    * A masked acquisition, as with `Resource.make`, cannot be cancelled. The error comes when the
    * acquisition has ended, and a resource that was acquired too late is released and not used.
    * {{{
    * val names = connection.timeout(5.seconds).use(c => Task(c.getSchema))
    * }}}
    */
  final def timeout(limit: FiniteDuration): Resource[A] = Resource.of { into =>
    // `cede` sees a cancel that came while the acquisition was masked.
    Defer(() => allocate(into))
      .flatTap(_ => Task.cede)
      .timeoutTo(
        limit,
        Task.defer(
          Task
            .fail(TimeoutException(s"The resource was not acquired within ${DurationText(limit)}."))
        )
      )
  }

  /** Acquires this resource. If that fails, acquires the one that `f` returns for the error, after
    * the acquired parts of this one have been released. `f` is not called for errors of the use.
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

  /** Returns the resource as a `Right`, or the error of acquiring it as a `Left`. */
  final def attempt: Resource[Either[Throwable, A]] =
    map(a => Right(a)).handleErrorWith(error => Resource.pure(Left(error)))

object Resource:
  private def of[A](acquire: Finalizers => Task[A]): Resource[A] = new Resource[A]:
    private[weir] def allocate(into: Finalizers): Task[A] = acquire(into)

  /** Makes a resource from `acquire`, which returns its value, and `release`, which releases the
    * value. Both are masked. If `acquire` fails, nothing is released.
    * {{{
    * val temporary: Resource[java.nio.file.Path] =
    *   Resource.make(Task(Files.createTempFile("a", ".txt")))(path => Task(Files.delete(path)))
    * }}}
    */
  def make[A](acquire: Task[A])(release: A => Task[Unit]): Resource[A] =
    makeFull(_ => acquire)((a, _) => release(a))

  /** As `make`, but passes the outcome of the use to the release: to commit, or to roll back. */
  def makeCase[A](acquire: Task[A])(release: (A, Outcome[Unit]) => Task[Unit]): Resource[A] =
    makeFull(_ => acquire)(release)

  /** As `makeCase`, but the part of `acquire` that is passed to the poll can be cancelled: a wait,
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

  /** Makes a resource from `acquire`, whose value is closed at the release. */
  def fromAutoCloseable[A <: AutoCloseable](acquire: Task[A]): Resource[A] =
    make(acquire)(closeable => Task(closeable.close()))

  /** A resource whose value is `value`, with nothing to release. */
  def pure[A](value: A): Resource[A] = eval(Task.pure(value))

  /** A resource without a value, with nothing to release. */
  val unit: Resource[Unit] = pure(())

  /** A resource whose value is that of `task`, with nothing to release. The task can be cancelled.
    */
  def eval[A](task: Task[A]): Resource[A] = of(_ => task)

  /** Evaluates `resource` anew for each use, and acquires the result. */
  def defer[A](resource: => Resource[A]): Resource[A] =
    of(into => Defer(() => resource.allocate(into)))

  /** Acquires both resources concurrently, and releases them concurrently. **Fails** if one cannot
    * be acquired. Then the acquisition of the other one is cancelled, and its acquired parts are
    * released.
    */
  def both[A, B](left: Resource[A], right: Resource[B]): Resource[(A, B)] =
    parSequence(List[Resource[A | B]](left, right)).map { case values =>
      (values(0).asInstanceOf[A], values(1).asInstanceOf[B])
    }

  /** Acquires all of `resources` concurrently, and releases them concurrently. Returns their values
    * in the order of `resources`. **Fails** as `both`.
    */
  def parSequence[A](resources: Iterable[Resource[A]]): Resource[List[A]] = of { into =>
    Defer { () =>
      val parts = resources.iterator.map(resource => (resource, Finalizers())).toList
      into.add(Finalizers.releaseTogether(parts.map(_._2).toIndexedSeq))
      Task.parTraverse(parts)((resource, own) => resource.allocate(own))
    }
  }
