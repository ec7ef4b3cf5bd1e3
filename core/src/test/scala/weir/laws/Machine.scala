package weir.laws

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}
import java.util.concurrent.{CountDownLatch, Executors, TimeUnit}
import java.util.concurrent.locks.LockSupport
import scala.concurrent.ExecutionContext
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.fiber.{CallbackJoin, DirectCode, FiberCore, TaskFiber}
import weir.runtime.ExecutionThread
import weir.{Deferred, Outcome, Poll, Task, WeirRuntime}

/** Runs a program as a real task, and cancels it at a given step.
  *
  * The step that is to be cancelled requests that from another thread. It then waits until the
  * cancel of its fiber has been requested. Or, if the cancel must end the step, it blocks, sleeps
  * or waits for ever.
  */
final class Machine(cancelAt: CancelAt, runtime: WeirRuntime):
  import Machine.*
  import Program.*

  private given WeirRuntime = runtime
  private val events = ConcurrentHashMap[String, ConcurrentLinkedQueue[String]]()
  private val forked = ConcurrentLinkedQueue[TaskFiber]()
  private val rootPlace = Place("", null, reached = true)

  /** The events that must never happen, whatever the program. */
  val wrong: ConcurrentLinkedQueue[String] = ConcurrentLinkedQueue()

  def run(program: Program): Seen = runWith(program, masked = false)(task => task)

  /** As `run`, but runs the result of `side` for the program's task; `masked` is true if that runs
    * it masked.
    */
  def runWith(program: Program, masked: Boolean)(side: Task[Int] => Task[Int]): Seen =
    val scope = Scope(rootPlace, if masked then List(Object()) else Nil, false, Nil)
    val fiber = TaskFiber(runtime, side(task(program, "r", scope)))
    rootPlace.begins(fiber)
    if cancelAt == CancelAt.Start then fiber.requestCancel()
    runtime.scheduler.submit(fiber)
    val outcome = describe(fiber.awaitEnd())
    // A fiber is in it before the fiber that has forked it ends.
    var child = forked.poll()
    while child ne null do
      child.awaitEnd(): Unit
      child = forked.poll()
    Seen(outcome, events.asScala.view.mapValues(_.asScala.toList).toMap)

  /** Notes an event `name`. */
  def mark(name: String): Task[Unit] = Task.delay(record("", name))

  /** Runs `task` masked, and marks the outcome that it returns: for laws on the events in another
    * fiber.
    */
  def alone(task: Task[Outcome[Any]]): Task[Int] =
    Task.uncancelable(_ => task.flatMap(end => mark(describe(end)).as(0)))

  /** A piece of the user's code, other than a function of `map`. */
  private def log(scope: Scope, event: String): Unit =
    called(scope, event)
    if scope.place.sawCancel && !scope.isMasked then
      wrong.add(s"$event, unmasked, after a cancel"): Unit

  /** A function of `map`, which runs though a cancel has been requested meanwhile. */
  private def called(scope: Scope, event: String): Unit = record(scope.place.path, event)

  private def record(place: String, event: String): Unit =
    events.computeIfAbsent(place, _ => ConcurrentLinkedQueue()).add(event): Unit

  /** Does the part of a step besides its event. Returns true if the cancel that it has requested
    * must end it.
    */
  private def checkpoint(scope: Scope, path: String, canHang: Boolean): Boolean =
    val place = scope.place
    val running = Machine.own
    val own = if place.apart.exists(_ eq running) then place.fiber.nn else running
    place.checkpoints += 1
    val byParent = place.checkpoints == place.cancelAtCheckpoint
    if byParent then place.reachedCheckpoint.countDown()
    // The last fiber that a cancel reaches, on its way from the first fiber to this one.
    val last = place.lastReached
    val target = cancelAt match
      case CancelAt.Step(`path`, true) => own
      // A fiber that is cancelled already could not show that this cancel has arrived.
      case CancelAt.Step(`path`, false) if !byParent && !last.isCancelled => rootPlace.fiber.nn
      case _ => null
    val requestedOf =
      if byParent || (target eq own) then own else if target eq null then null else last.fiber
    val hangs = canHang && (requestedOf eq own) && !scope.isMasked
    if target ne null then requestCancel(target, if hangs then own else null)
    if (requestedOf ne null) && !hangs then
      val asked = if requestedOf eq own then place else last
      parkUntil(s"the cancel of $path has arrived")(
        requestedOf.cancelRequested && asked.apart.forall(_.cancelRequested)
      )
      if requestedOf eq own then place.sawCancel = true
    hangs

  private def task(program: Program, path: String, scope: Scope): Task[Int] =
    def in(part: Int, program: Program): Task[Int] = task(program, s"$path.$part", scope)
    def finalizer(part: Int, program: Program): Task[Int] =
      task(program, s"$path.$part", scope.copy(finalizing = true))
    def under(mask: Scope, event: String): Unit = log(mask, s"$path $event")
    val hidden =
      scope.copy(masks =
        Object() :: scope.masks
      ) // a mask without a poll that the program could name
    program match
      case Pure => Task.pure(0)
      case Fail => Task.fail(Failure(path))
      case Throw =>
        Task.delay {
          log(scope, path)
          checkpoint(scope, path, canHang = false): Unit
          throw Failure(path)
        }
      case Canceled => Task.canceled.as0
      case Step(kind) => step(kind, path, scope)

      case Mapped(source) =>
        in(0, source).map { value =>
          called(scope, s"$path map $value")
          value + 1
        }
      case Then(first, second) =>
        in(0, first).flatMap { value =>
          log(scope, s"$path then $value")
          in(1, second)
        }
      case Sequence(tasks) =>
        Task.defer {
          log(scope, s"$path sequence")
          val each = tasks.zipWithIndex.map((task, i) =>
            in(i, task).map(value => { called(scope, s"$path each $i"); value })
          )
          Task.sequence(each).map { _ =>
            called(scope, s"$path all"); 0
          }
        }

      case Attempt(source) =>
        in(0, source).attempt.map {
          case Left(error) => called(scope, s"$path left ${describe(error)}"); -1
          case Right(value) => called(scope, s"$path right"); value
        }
      case Handle(source, handler) =>
        in(0, source).handleErrorWith { error =>
          log(scope, s"$path handle ${describe(error)}")
          in(1, handler)
        }

      case OnCancel(source, last) => in(0, source).onCancel(finalizer(1, last).void)
      case Guarantee(source, last) =>
        in(0, source).guaranteeCase { outcome =>
          under(hidden, s"after ${describe(outcome)}")
          finalizer(1, last).void
        }
      case Bracket(acquire, use, release) =>
        val acquired = task(acquire, s"$path.0", hidden)
        Task.bracket(acquired.map(value => { under(hidden, s"acquired $value"); value })) { _ =>
          log(scope, s"$path use")
          in(1, use)
        } { value =>
          under(hidden, s"release $value")
          finalizer(2, release).void
        }
      case Mask(body) => Task.uncancelable(poll => task(body, s"$path.0", scope.masked(poll)))
      case Poll(up, body) =>
        scope.polls.lift(up) match
          case Some(poll) => poll.poll(task(body, s"$path.0", scope.unmaskedBy(poll)))
          case None => in(0, body)

      case Await(body) => DirectCode(fiber => fiber.await(in(0, body)))
      case AwaitOn(body) =>
        DirectCode(fiber => fiber.await(in(0, body).evalOn(elsewhere)))
      case Nested(body) =>
        val inner = scope.child(path, propagates = true)
        Task.delay {
          log(scope, s"$path nest")
          inner.begins(task(body, s"$path.0", inner)).runSync()
        }

      case ForkJoin(body) =>
        val inner = hidden.child(path, propagates = false)
        Task.uncancelable(poll =>
          inner.begins(task(body, s"$path.0", inner)).start.flatMap { fiber =>
            forked.add(fiber.asInstanceOf[TaskFiber]): Unit
            // An effect inside of the poll, so that a cancel at the same time as the end of the
            // child counts.
            poll(fiber.join.flatMap { outcome =>
              Task.delay {
                log(scope, s"$path joined ${describe(outcome)}")
                0
              }
            })
          }
        )
      case ForkCancel(body, at) =>
        val inner = hidden.child(path, propagates = false)
        inner.place.cancelAtCheckpoint = at
        Task.uncancelable(_ =>
          inner.begins(task(body, s"$path.0", inner)).start.flatMap { fiber =>
            val child = fiber.asInstanceOf[TaskFiber]
            forked.add(child): Unit
            val reached = inner.place.reachedCheckpoint
            child.register((list, lock) =>
              CallbackJoin(_ => reached.countDown(), runtime, list, lock)
            ) match
              case _: Outcome[?] => reached.countDown()
              case _ => ()
            Task(awaitLatch(reached)).andThen(fiber.cancel).andThen(fiber.join).map { outcome =>
              under(hidden, s"canceled ${describe(outcome)}")
              0
            }
          }
        )

      case Race(body) =>
        val (first, other, over) = pair(body, path, scope)
        Task.race(first.onCancel(over), other).map(_.merge)
      case Parallel(body) =>
        val (first, other, over) = pair(body, path, scope)
        Task.parSequence(List(first.guarantee(over), other)).map(_.head)
      case TimeLimit(body) => inGroup(body, path, scope).timeout(1.hour)
      case Abandon(body) => inGroup(body, path, scope).timeoutAbandon(1.hour)
      case Cancelable(body, hook) =>
        inGroup(body, path, scope).cancelable(finalizer(1, hook).void)

  private def inGroup(body: Program, path: String, scope: Scope): Task[Int] =
    val inner = scope.child(path, propagates = true)
    inner.begins(task(body, s"$path.0", inner))

  /** `body`; a task to run beside it, which has begun first and ends by a cancel or by the third;
    * and the third.
    */
  private def pair(body: Program, path: String, scope: Scope): (Task[Int], Task[Int], Task[Unit]) =
    val begun = CountDownLatch(1)
    val over = Deferred.unsafe[Int]
    val begin = Task {
      record(s"$path.other", "begun")
      begun.countDown()
    }
    val other = begin.andThen(over.get).guarantee(Task(record(s"$path.other", "released")))
    val first = Task(awaitLatch(begun)).andThen(inGroup(body, path, scope))
    // Not if the cancel comes from the fiber that waits for both: it ends the other, which must not
    // be faster.
    val end = Task.defer {
      if !scope.isMasked && scope.place.isCancelled then Task.unit
      else over.complete(-2).void
    }
    (first, other, end)

  private def step(kind: Kind, path: String, scope: Scope): Task[Int] =
    def seen(canHang: Boolean): Boolean =
      log(scope, path)
      checkpoint(scope, path, canHang)
    def waits(end: (Either[Throwable, Int] => Unit) => Unit): Task[Int] =
      Task.asyncCancelable { callback =>
        if !seen(canHang = true) then end(callback)
        Task.delay(log(scope.copy(finalizing = true), s"$path hook"))
      }
    kind match
      case Kind.Delay => Task.delay { seen(canHang = false): Unit; 1 }
      case Kind.Defer => Task.defer { seen(canHang = false): Unit; Task.pure(1) }
      case Kind.Cede => Task.delay(seen(canHang = false)).flatMap(_ => Task.cede).as1
      case Kind.Sleep =>
        Task.defer(Task.sleep(if seen(canHang = true) then 1.hour else 5.micros)).as1
      case Kind.WaitNow => waits(_(Right(1)))
      case Kind.WaitLater => waits(callback => canceller.execute(() => callback(Right(1))))
      case Kind.WaitAndFail => waits(_(Left(Failure(path))))
      case Kind.Block =>
        Task.delay {
          block(seen(canHang = true), path)
          1
        }
      case Kind.BlockOn =>
        Task.delay {
          val hangs = seen(canHang = true)
          try block(hangs, path)
          catch case _: InterruptedException if hangs => scope.place.sawCancel = true
          1
        }

  private def block(hangs: Boolean, path: String): Unit =
    try
      if hangs then Thread.sleep(3_600_000)
      // A cancel that arrived while unmasked code computed has left its interrupt in the flag.
      else if !Thread.currentThread().isInterrupted then Thread.sleep(0, 1000)
    catch
      case error: InterruptedException =>
        if !hangs then wrong.add(s"$path was interrupted"): Unit
        throw error

object Machine:
  private final class Failure(path: String)
      extends RuntimeException(s"fail $path", null, false, false)

  /** The fiber that runs this code. */
  private def own: TaskFiber = ExecutionThread.here.nn.running.asInstanceOf[TaskFiber]

  /** The place in the program from which a fiber is made. */
  private final class Place(val path: String, val parent: Place | Null, val reached: Boolean):
    private val firsts: java.util.Set[FiberCore] =
      if parent eq null then ConcurrentHashMap.newKeySet() else parent.firsts

    /** The fiber that runs its code, or waits for those of `apart`. */
    @volatile var fiber: TaskFiber | Null = null

    def begins(fiber: TaskFiber): Unit =
      firsts.add(fiber): Unit
      this.fiber = fiber

    /** The fibers that run its code in and under an `evalOn`, while `fiber` waits for them. */
    def apart: List[FiberCore] =
      Iterator
        .iterate(fiber: FiberCore | Null)(_.nn.nestedFiber)
        .drop(1)
        .takeWhile(inner => (inner ne null) && !firsts.contains(inner))
        .map(_.nn)
        .toList

    @volatile var sawCancel = false
    @volatile var checkpoints = 0
    @volatile var cancelAtCheckpoint: Int = -1
    val reachedCheckpoint = CountDownLatch(1)

    def isCancelled: Boolean = (fiber.nn :: apart).exists(_.cancelRequested)

    def lastReached: Place = if reached then this else parent.nn.lastReached

  private final case class Named(poll: Poll, mask: AnyRef)

  /** `masks` are those that are not removed, the innermost first. */
  private final case class Scope(
      place: Place,
      masks: List[AnyRef],
      finalizing: Boolean,
      polls: List[Named]
  ):
    def isMasked: Boolean = masks.nonEmpty || finalizing

    def masked(poll: Poll): Scope =
      val mask = Object()
      copy(masks = mask :: masks, polls = Named(poll, mask) :: polls)

    def unmaskedBy(poll: Named): Scope =
      if masks.headOption.exists(_ eq poll.mask) && !finalizing then copy(masks = masks.tail)
      else this

    def child(path: String, propagates: Boolean): Scope =
      Scope(Place(path, place, place.reached && propagates && !isMasked), Nil, false, polls)

    def begins(body: Task[Int]): Task[Int] =
      Task
        .delay(place.begins(own))
        .flatMap(_ => body)

  extension (task: Task[Any])
    private def as0: Task[Int] = task.andThen(Task.pure(0))
    private def as1: Task[Int] = task.as(1)

  private def describe(error: Throwable): String = error match
    case failure: Failure => failure.getMessage
    case other => other.getClass.getSimpleName

  private def describe(outcome: Outcome[Any]): String = outcome match
    case Outcome.Failed(error) => s"Failed(${describe(error)})"
    case other => other.toString

  /** Threads enough for code there to wait for other code there. */
  private val elsewhere = ExecutionContext.fromExecutor(
    Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory())
  )

  private val canceller = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory())

  /** Requests the cancel of `target`: if it can, when `waiting`, if given, has left its thread or
    * blocks it.
    */
  private def requestCancel(target: TaskFiber, waiting: TaskFiber | Null): Unit =
    val thread = Thread.currentThread()
    canceller.execute { () =>
      if waiting ne null then
        val until = System.nanoTime() + 100_000
        while !target.cancelRequested && (waiting.executionThread ne null) &&
          thread.getState == Thread.State.RUNNABLE && System.nanoTime() < until
        do Thread.onSpinWait()
      target.requestCancel()
    }

  /** Blocks, so that the cancel gets a carrier. */
  private def parkUntil(clue: String)(condition: => Boolean): Unit =
    val until = System.nanoTime() + 20.seconds.toNanos
    while !condition && System.nanoTime() < until do LockSupport.parkNanos(5000)
    if !condition then throw AssertionError(s"Not so after 20 s: $clue")

  private def awaitLatch(latch: CountDownLatch): Unit =
    if !latch.await(20, TimeUnit.SECONDS) then throw AssertionError("Waited 20 s for a latch.")
