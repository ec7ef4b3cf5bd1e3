package weir.laws

import scala.collection.mutable
import Program.*

/** The place at which a run is cancelled: before its start, or at the step at `path`, which
  * requests the cancel of the first fiber or of its own, and continues after the request.
  */
enum CancelAt:
  case Nowhere, Start
  case Step(path: String, own: Boolean)

/** The events of one run: its end, and the actions of each of its fibers, in order. */
final case class Seen(outcome: String, events: Map[String, List[String]])

/** The meaning of a program: a plain interpreter on one thread, with no scheduler and no waiting.
  * It checks for a cancel before each piece of the user's code except the functions of `map`, and
  * not at the end of a mask. So, once a cancel has been requested, only those functions, masked
  * code and finalizers run.
  */
final class Reference(cancelAt: CancelAt):
  import Reference.*

  private val events = mutable.LinkedHashMap[String, mutable.ListBuffer[String]]()
  private val rootFiber = Fiber("", null, reached = true)

  /** The steps that were run, in the order of one of the possible runs. */
  val steps: mutable.ListBuffer[String] = mutable.ListBuffer()

  def run(program: Program): Seen =
    if cancelAt == CancelAt.Start then rootFiber.cancelRequested = true
    val outcome = describe(eval(program, "r", rootFiber, Nil))
    Seen(outcome, events.view.mapValues(_.toList).toMap)

  private def log(fiber: Fiber, event: String): Unit =
    events.getOrElseUpdate(fiber.path, mutable.ListBuffer()) += event

  /** A piece of the user's code. */
  private def code(fiber: Fiber, event: String)(body: => Result): Result =
    if fiber.shouldCancel then cancel(fiber)
    else
      log(fiber, event)
      body

  private def cancel(fiber: Fiber): Result =
    if !fiber.finalizing then
      fiber.masks += 1
      fiber.finalizing = true
    Result.Canceled

  private def checkpoint(fiber: Fiber, path: String): Unit =
    steps += path
    fiber.checkpoints += 1
    val byParent = fiber.checkpoints == fiber.cancelAtCheckpoint
    if byParent then fiber.cancelRequested = true
    cancelAt match
      case CancelAt.Step(`path`, own) =>
        if own then fiber.cancelRequested = true else if !byParent then askRoot(fiber)
      case _ => ()

  /** The first fiber and, from it downwards, those that wait for each other in such a way that a
    * cancel is passed on.
    */
  private def askRoot(from: Fiber): Unit =
    var fiber = from
    while !fiber.reached do fiber = fiber.parent.nn
    if !fiber.cancelRequested then
      fiber.cancelRequested = true
      while fiber.parent ne null do
        fiber = fiber.parent.nn
        fiber.cancelRequested = true

  private def eval(program: Program, path: String, fiber: Fiber, polls: Polls): Result =
    def in(part: Int, program: Program): Result = eval(program, s"$path.$part", fiber, polls)
    program match
      case Pure => Result.Value(0)
      case Fail => Result.Error(s"fail $path")
      case Throw =>
        code(fiber, path) {
          checkpoint(fiber, path)
          thrown(fiber, s"fail $path")
        }
      case Canceled =>
        fiber.cancelRequested = true
        if fiber.masks == 0 then cancel(fiber) else Result.Value(0)
      case Step(kind) => step(kind, path, fiber)

      case Mapped(source) =>
        in(0, source).flatMap { value =>
          log(fiber, s"$path map $value")
          Result.Value(value + 1)
        }
      case Then(first, second) =>
        in(0, first).flatMap(value => code(fiber, s"$path then $value")(in(1, second)))
      case Sequence(tasks) =>
        code(fiber, s"$path sequence") {
          tasks.zipWithIndex
            .foldLeft(Result.Value(0): Result) { case (before, (task, i)) =>
              before
                .flatMap(_ => if fiber.shouldCancel then cancel(fiber) else in(i, task))
                .flatMap { value =>
                  log(fiber, s"$path each $i")
                  Result.Value(value)
                }
            }
            .flatMap { _ =>
              log(fiber, s"$path all")
              Result.Value(0)
            }
        }

      case Attempt(source) =>
        in(0, source) match
          case Result.Error(error) =>
            log(fiber, s"$path left $error")
            Result.Value(-1)
          case result =>
            result.flatMap { value =>
              log(fiber, s"$path right")
              Result.Value(value)
            }
      case Handle(source, handler) =>
        in(0, source) match
          case Result.Error(error) => code(fiber, s"$path handle $error")(in(1, handler))
          case result => result

      case OnCancel(source, finalizer) =>
        val result = in(0, source)
        if result == Result.Canceled then in(1, finalizer): Unit
        result
      case Guarantee(source, finalizer) =>
        masked(fiber, polls)(_ =>
          guaranteed(fiber)(in(0, source)) { outcome =>
            log(fiber, s"$path after $outcome")
            in(1, finalizer)
          }
        )
      case Bracket(acquire, use, release) =>
        masked(fiber, polls)(_ =>
          in(0, acquire).flatMap { value =>
            log(fiber, s"$path acquired $value")
            guaranteed(fiber)(code(fiber, s"$path use")(in(1, use))) { _ =>
              log(fiber, s"$path release $value")
              in(2, release)
            }
          }
        )
      case Mask(body) => masked(fiber, polls)(polls => eval(body, s"$path.0", fiber, polls))
      case Poll(up, body) =>
        polls.lift(up) match
          case Some(poll) => polled(fiber, poll)(in(0, body))
          case None => in(0, body)

      case Await(_) | AwaitOn(_) =>
        val body = program.children.head
        if fiber.shouldCancel then cancel(fiber)
        else in(0, body)
      case Nested(body) =>
        code(fiber, s"$path nest") {
          val inner = child(fiber, path, propagates = true)
          eval(body, s"$path.0", inner, polls) match
            case Result.Error(error) => thrown(fiber, error)
            case Result.Canceled =>
              thrown(
                fiber,
                if fiber.cancelRequested then "InterruptedException" else "CancellationException"
              )
            case value => value
        }

      case ForkJoin(body) =>
        masked(fiber, polls) { inner =>
          val forked = child(fiber, path, propagates = false)
          val outcome = describe(eval(body, s"$path.0", forked, polls))
          polled(fiber, inner.head)(code(fiber, s"$path joined $outcome")(Result.Value(0)))
        }
      case ForkCancel(body, at) =>
        masked(fiber, polls) { _ =>
          val forked = child(fiber, path, propagates = false)
          forked.cancelAtCheckpoint = at
          val outcome = describe(eval(body, s"$path.0", forked, polls))
          code(fiber, s"$path canceled $outcome")(Result.Value(0))
        }

      case Race(body) =>
        group(fiber, path) { runner =>
          events(s"$path.other") = mutable.ListBuffer("begun", "released")
          val result = eval(body, s"$path.0", runner, polls)
          // By itself, and not by the cancel of both.
          if result == Result.Canceled && !fiber.shouldCancel then Result.Value(-2) else result
        }
      case Parallel(body) =>
        group(fiber, path, keepsValue = false) { runner =>
          events(s"$path.other") = mutable.ListBuffer("begun", "released")
          masked(runner, polls)(_ =>
            guaranteed(runner)(eval(body, s"$path.0", runner, polls))(_ => Result.Value(0))
          )
        }
      case TimeLimit(body) => group(fiber, path)(eval(body, s"$path.0", _, polls))
      case Abandon(body) => group(fiber, path)(eval(body, s"$path.0", _, polls))
      case Cancelable(body, hook) =>
        // After the hook, its value is the one that the hook has led to.
        group(fiber, path, keepsValue = false, hook = () => in(1, hook): Unit)(
          eval(body, s"$path.0", _, polls)
        )

  private def step(kind: Kind, path: String, fiber: Fiber): Result =
    code(fiber, path) {
      checkpoint(fiber, path)
      kind match
        case Kind.Delay | Kind.Defer | Kind.BlockOn => Result.Value(1)
        case _ if fiber.shouldCancel =>
          val hooked = kind match
            case Kind.WaitNow | Kind.WaitLater | Kind.WaitAndFail => true
            case _ => false
          val result = cancel(fiber)
          if hooked then log(fiber, s"$path hook")
          result
        case Kind.WaitAndFail => Result.Error(s"fail $path")
        case _ => Result.Value(1)
    }

  /** An error that code has thrown: of code that was interrupted, it is the cancel. */
  private def thrown(fiber: Fiber, error: String): Result =
    if fiber.shouldCancel then cancel(fiber) else Result.Error(error)

  private def masked(fiber: Fiber, polls: Polls)(body: Polls => Result): Result =
    fiber.masks += 1
    val mask = Masking(fiber.innermost)
    fiber.innermost = mask
    val result = body(mask :: polls)
    if result == Result.Canceled then result
    else
      fiber.innermost = mask.outer
      if fiber.masks > 1 || !fiber.finalizing then fiber.masks -= 1
      result

  private def polled(fiber: Fiber, mask: Masking | Null)(body: => Result): Result =
    if (mask eq fiber.innermost) && !fiber.finalizing then
      fiber.innermost = mask.nn.outer
      fiber.masks -= 1
      val result = body
      if result != Result.Canceled then
        fiber.innermost = mask
        fiber.masks += 1
      result
    else body

  /** Inside of a mask of its own. */
  private def guaranteed(fiber: Fiber)(body: => Result)(finalizer: String => Result): Result =
    polled(fiber, fiber.innermost)(body) match
      case Result.Canceled =>
        finalizer("Canceled"): Unit
        Result.Canceled
      case result =>
        val after = finalizer(describe(result))
        result match
          case Result.Error(_) => result
          case value => after.flatMap(_ => value)

  private def child(parent: Fiber, path: String, propagates: Boolean): Fiber =
    Fiber(path, parent, parent.reached && propagates && parent.masks == 0)

  /** A wait for `body` in another fiber, which a cancel of this fiber reaches, after the hook. If
    * `keepsValue`, the wait has the value of that fiber, even if this one is cancelled.
    */
  private def group(
      fiber: Fiber,
      path: String,
      keepsValue: Boolean = true,
      hook: () => Unit = () => ()
  )(body: Fiber => Result): Result =
    if fiber.shouldCancel then cancel(fiber)
    else
      val result = body(child(fiber, path, propagates = true))
      if fiber.shouldCancel then
        fiber.masks += 1
        hook()
        fiber.masks -= 1
      result match
        case Result.Value(_) if keepsValue => result
        case _ if fiber.shouldCancel => cancel(fiber)
        case Result.Canceled =>
          fiber.cancelRequested = true
          thrown(fiber, "CancellationException")
        case result => result

object Reference:
  /** Every point at which a cancel can fall in a run of `program`. */
  def points(program: Program, masked: Boolean): List[CancelAt] =
    val reference = Reference(CancelAt.Nowhere)
    reference.run(if masked then Program.Mask(program) else program): Unit
    val steps = reference.steps.toList.map(path => if masked then s"r${path.drop(3)}" else path)
    CancelAt.Nowhere :: CancelAt.Start :: steps.flatMap(path =>
      List(CancelAt.Step(path, own = false), CancelAt.Step(path, own = true))
    )

  private type Polls = List[Masking]

  private final class Masking(val outer: Masking | Null)

  private enum Result:
    case Value(value: Int)
    case Error(error: String)
    case Canceled

    def flatMap(f: Int => Result): Result = this match
      case Value(value) => f(value)
      case other => other

  private def describe(result: Result): String = result match
    case Result.Value(value) => s"Succeeded($value)"
    case Result.Error(error) => s"Failed($error)"
    case Result.Canceled => "Canceled"

  /** `reached` is true if a cancel of the first fiber reaches this one. */
  private final class Fiber(val path: String, val parent: Fiber | Null, val reached: Boolean):
    var cancelRequested = false
    var masks = 0
    var innermost: Masking | Null = null
    var finalizing = false
    var checkpoints = 0
    var cancelAtCheckpoint: Int = -1
    def shouldCancel: Boolean = cancelRequested && masks == 0
