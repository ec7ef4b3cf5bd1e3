package weir.testkit.bugs

import scala.concurrent.duration.DurationInt
import weir.{Deferred, Fiber, Outcome, Poll, Queue, Ref, Semaphore, Task}
import weir.testkit.bugs.KnownBug.{mustBe, ofTasks, together}

/** Tasks that are cancelled, fail or time out at the wrong moment. */
object CancelBugs:

  // The permit is taken one step before its release is installed.
  private val lostPermit = ofTasks(
    "a permit lost by a cancel",
    "https://github.com/Effect-TS/effect/pull/6910"
  ) { correct =>
    for
      semaphore <- Semaphore(1)
      work =
        if correct then semaphore.withPermit(Task.unit)
        else semaphore.acquire.flatMap(_ => Task.unit.guarantee(semaphore.release))
      fiber <- work.start
      _ <- fiber.cancel
      free <- semaphore.available
    yield mustBe("free permits", free, 1L)
  }

  // The permit is granted, and then the time is over: nobody knows that it was.
  private val permitOrTimeout = ofTasks(
    "a permit granted at the timeout",
    "https://github.com/Kotlin/kotlinx.coroutines/issues/2233"
  ) { correct =>
    for
      semaphore <- Semaphore(0)
      held <- Ref.of(false)
      acquire =
        if correct then Task.uncancelable(poll => poll(semaphore.acquire).andThen(held.set(true)))
        else semaphore.acquire.flatMap(_ => held.set(true))
      waiter <- acquire.start
      _ <- together(
        Task.sleep(25.millis).andThen(semaphore.release),
        Task.sleep(25.millis).andThen(waiter.cancel)
      )
      taken <- held.get
      _ <- Task.when(taken)(semaphore.release)
      free <- semaphore.available
    yield mustBe("free permits", free, 1L)
  }

  // The value is out of the queue, and its taker does not come to store it.
  private val lostValue = ofTasks(
    "a value lost by a cancelled take",
    "https://github.com/zio/zio/issues/9973"
  ) { correct =>
    for
      queue <- Queue.bounded[String](1)
      stored <- Ref.of[Option[String]](None)
      take =
        if correct then
          Task.uncancelable(poll => poll(queue.take).flatMap(v => stored.set(Some(v))))
        else queue.take.flatMap(v => stored.set(Some(v)))
      taker <- take.start
      _ <- together(queue.offer("foo"), taker.cancel)
      left <- queue.tryTake
      value <- stored.get
    yield mustBe("the value, stored or left", value.toList ++ left, List("foo"))
  }

  // A cancel comes after the connection was opened, before its close is registered.
  private val leak = ofTasks(
    "a resource leaked between acquire and release",
    "https://github.com/typelevel/keypool/pull/709"
  ) { correct =>
    for
      open <- Ref.of(0)
      acquire = open.update(_ + 1)
      release = open.update(_ - 1)
      use =
        if correct then Task.bracket(acquire)(_ => Task.unit)(_ => release)
        else acquire.flatMap(_ => Task.unit.guarantee(release))
      fiber <- use.start
      _ <- fiber.cancel
      n <- open.get
    yield mustBe("open connections", n, 0)
  }

  /** A memoized `load`.
    *
    * @param masked true if a cancel cannot come between the entry and its loading
    * @param retried true if a load that was cancelled is forgotten
    */
  private def memoized(load: Task[Int], masked: Boolean, retried: Boolean): Task[Task[Int]] =
    type Entry = Deferred[Outcome[Int]]
    Ref.of[Option[Entry]](None).map { entry =>
      def loading(mine: Entry, poll: Task[Int] => Task[Int]): Task[Int] =
        poll(load).guaranteeCase { outcome =>
          val forget = retried && outcome == Outcome.Canceled
          Task.when(forget)(entry.set(None)).andThen(mine.complete(outcome).void)
        }
      def get: Task[Int] =
        def body(mine: Entry, poll: [A] => Task[A] => Task[A]): Task[Int] = entry
          .modify {
            case None => (Some(mine), loading(mine, poll(_)))
            case present @ Some(other) =>
              val value = poll(other.get).flatMap {
                case Outcome.Canceled if retried => poll(get)
                case outcome => Task(outcome.get)
              }
              (present, value)
          }
          .flatMap(identity)
        Deferred[Outcome[Int]].flatMap(mine =>
          if masked then Task.uncancelable(poll => body(mine, [A] => (task: Task[A]) => poll(task)))
          else body(mine, [A] => (task: Task[A]) => task)
        )
      get
    }

  private def cancelThenGet(memo: Task[Int]): Task[Unit] =
    for
      first <- memo.start
      _ <- first.cancel
      value <- memo
    yield mustBe("the value", value, 42)

  // The first caller is cancelled while it loads, and all others get that cancel.
  private val cachedCancel = ofTasks(
    "a memoize that caches a cancel",
    "https://github.com/zio/zio/issues/9751"
  )(correct => memoized(Task.cede.as(42), masked = true, retried = correct).flatMap(cancelThenGet))

  // A cancel comes between the pending entry and its loading: others wait for it for ever.
  private val pendingForEver = ofTasks(
    "a cache entry that is pending for ever",
    "https://github.com/zio/zio-cache/pull/174"
  )(correct => memoized(Task.cede.as(42), masked = correct, retried = true).flatMap(cancelThenGet))

  // A fiber finds the queue open, the queue is shut down with all its waiters, and then the fiber
  // begins to wait.
  private val shutDownBetween = ofTasks(
    "a take that begins to wait after the shutdown",
    "https://github.com/zio/zio/pull/1468"
  ) { correct =>
    for
      isShut <- Ref.of(false)
      waiters <- Ref.of(List[Deferred[Unit]]())
      shutDown = isShut
        .set(true)
        .andThen(waiters.getAndSet(Nil))
        .flatMap(Task.foreach(_)(_.complete(())))
      wait = Deferred[Unit].flatMap(mine =>
        val unlessShut = (task: Task[Unit]) => isShut.get.flatMap(Task.unless(_)(task))
        val enqueue = waiters.update(mine :: _)
        if correct then enqueue.andThen(unlessShut(mine.get))
        else unlessShut(enqueue.andThen(mine.get))
      )
      _ <- together(wait, shutDown)
    yield ()
  }

  // The notified fiber is cancelled before it continues, and the notification is lost.
  private val lostNotification = ofTasks(
    "a notification lost with a cancelled waiter",
    "https://github.com/tokio-rs/tokio/pull/3652"
  ) { correct =>
    type Waiting = Deferred[Unit]
    def notifyOne(state: Ref[(Int, List[Waiting])]): Task[Unit] =
      state.flatModify {
        case (permits, first :: rest) => ((permits, rest), first.complete(()).void)
        case (permits, Nil) => ((permits + 1, Nil), Task.unit)
      }
    def leave(state: Ref[(Int, List[Waiting])], mine: Waiting): Task[Unit] = state.flatModify {
      case (permits, waiting) =>
        val isNotified = !waiting.contains(mine)
        val next = Task.when(isNotified && correct)(notifyOne(state))
        ((permits, waiting.filterNot(_ == mine)), next)
    }
    def notified(state: Ref[(Int, List[Waiting])])(poll: Poll): Task[Unit] =
      Deferred[Unit].flatMap(mine =>
        state
          .modify {
            case (0, waiting) =>
              ((0, waiting :+ mine), poll(mine.get).onCancel(leave(state, mine)))
            case (permits, waiting) => ((permits - 1, waiting), Task.unit)
          }
          .flatMap(identity)
      )
    for
      state <- Ref.of((0, List[Waiting]()))
      wasFirst <- Ref.of(false)
      wait = (isFirst: Boolean) =>
        Task.uncancelable(poll => notified(state)(poll).andThen(wasFirst.update(_ || isFirst)))
      first <- wait(true).start
      second <- wait(false).start
      _ <- together(notifyOne(state), first.cancel)
      taken <- wasFirst.get
      _ <- Task.when(taken)(notifyOne(state))
      _ <- second.joinOrFail
    yield ()
  }

  // The second failure is not there yet when the first is reported.
  private val lostError = ofTasks(
    "a parallel map that loses an error",
    "https://github.com/zio/zio/pull/2647"
  ) { correct =>
    for
      errors <- Ref.of(Set[Int]())
      failed <- Deferred[Unit]
      child = (n: Int) => errors.update(_ + n).andThen(failed.complete(()))
      one <- child(1).start
      two <- child(2).start
      _ <- failed.get
      _ <- Task.when(correct)(one.join.andThen(two.join))
      seen <- errors.get
      _ <- one.join.andThen(two.join)
    yield mustBe("the errors", seen, Set(1, 2))
  }

  // The task is cancelled after it was started, before there is something to cancel.
  private val cancelBeforeToken = ofTasks(
    "a cancel before the fiber is registered",
    "https://github.com/typelevel/cats-effect/issues/1332"
  ) { correct =>
    enum State:
      case Idle, Canceled
      case Running(fiber: Fiber[Unit])
    for
      state <- Ref.of[State](State.Idle)
      submit = Task.never.start.flatMap { fiber =>
        if correct then
          state.flatModify {
            case State.Canceled => (State.Canceled, fiber.cancel)
            case _ => (State.Running(fiber), Task.unit)
          }
        else state.set(State.Running(fiber))
      }
      cancel = state.getAndSet(State.Canceled).flatMap {
        case State.Running(fiber) => fiber.cancel
        case _ => Task.unit
      }
      _ <- together(submit, cancel)
    yield ()
  }

  // Two swaps release the same old resource, and nobody that of the other.
  private val releasedTwice = ofTasks(
    "a hot swap that releases twice",
    "https://github.com/typelevel/cats-effect/issues/2050"
  ) { correct =>
    for
      current <- Ref.of(0)
      released <- Ref.of(List[Int]())
      swap = (next: Int) =>
        val old =
          if correct then current.getAndSet(next)
          else current.get.flatMap(old => current.set(next).as(old))
        old.flatMap(n => released.update(n :: _))
      _ <- together(swap(1), swap(2))
      last <- current.get
      all <- released.get
    yield mustBe("released", (last :: all).sorted, List(0, 1, 2))
  }

  // Nobody gives back the token that is ready when the time is over.
  private val lateToken = ofTasks(
    "a token that comes with the timeout",
    "https://github.com/Netflix/concurrency-limits/pull/179"
  ) { correct =>
    for
      tokens <- Ref.of(1)
      result <- Deferred[Boolean]
      give = tokens.update(_ - 1).andThen(result.complete(true)).flatMap { inTime =>
        Task.unless(inTime || !correct)(tokens.update(_ + 1))
      }
      timeout = Task.sleep(10.millis).andThen(result.complete(false))
      giver <- Task.sleep(10.millis).andThen(give).start
      timer <- timeout.start
      hasToken <- result.get
      _ <- Task.when(hasToken)(tokens.update(_ + 1))
      _ <- giver.join.andThen(timer.join)
      left <- tokens.get
    yield mustBe("tokens", left, 1)
  }

  // The old timer has rung, and reports that only after the timer was set again.
  private val staleTimer = ofTasks(
    "a stale timer after a reset",
    "https://github.com/conr2d/eo/pull/26"
  ) { correct =>
    final case class Timer(generation: Int, isExpired: Boolean)
    for
      state <- Ref.of(Timer(0, isExpired = false))
      rings = (generation: Int) =>
        state.update(timer =>
          if correct && timer.generation != generation then timer
          else timer.copy(isExpired = true)
        )
      reset = state.update(timer => Timer(timer.generation + 1, isExpired = false))
      old <- Task.sleep(10.millis).andThen(rings(0)).start
      user <- Task.sleep(10.millis).andThen(reset).start
      _ <- old.join.andThen(user.join)
      timer <- state.get
    yield mustBe("expired", timer.isExpired, false)
  }

  val all: List[KnownBug] = List(
    lostPermit,
    permitOrTimeout,
    lostValue,
    leak,
    cachedCancel,
    pendingForEver,
    shutDownBetween,
    lostNotification,
    lostError,
    cancelBeforeToken,
    releasedTwice,
    lateToken,
    staleTimer
  )
