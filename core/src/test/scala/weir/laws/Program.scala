package weir.laws

import org.scalacheck.{Gen, Shrink}

/** A task as data. `Machine` makes a real task of it, and `Reference` defines its meaning. Each
  * node runs at most once, so the path to it names its events. A program has one meaning only: if
  * two fibers run at once, the end of the second depends on the first.
  */
enum Program:
  case Pure, Fail, Throw, Canceled
  case Step(kind: Kind)
  case Mapped(source: Program)
  case Then(first: Program, second: Program)
  case Sequence(tasks: List[Program])
  case Attempt(source: Program)
  case Handle(source: Program, handler: Program)
  case OnCancel(source: Program, finalizer: Program)
  case Guarantee(source: Program, finalizer: Program)
  case Bracket(acquire: Program, use: Program, release: Program)
  case Mask(body: Program)

  /** Polled by the mask that is the `up`-th around it, whichever fiber that is in. */
  case Poll(up: Int, body: Program)

  /** In direct style, inside of the same fiber. */
  case Await(body: Program)

  /** Awaited in direct style, on the threads of another execution context. */
  case AwaitOn(body: Program)

  /** In a `runSync` inside of a task. */
  case Nested(body: Program)
  case ForkJoin(child: Program)

  /** Cancelled by its parent at the `at`-th step of its own, or after its end. */
  case ForkCancel(child: Program, at: Int)

  /** A race against a task that waits, and that wins if this one cancels itself. */
  case Race(child: Program)

  /** In a `parTraverse`, beside a task that waits for the end of this one. */
  case Parallel(child: Program)
  case TimeLimit(child: Program)
  case Abandon(child: Program)
  case Cancelable(child: Program, hook: Program)

  def children: List[Program] = this match
    case Mapped(a) => List(a)
    case Then(a, b) => List(a, b)
    case Sequence(tasks) => tasks
    case Attempt(a) => List(a)
    case Handle(a, b) => List(a, b)
    case OnCancel(a, b) => List(a, b)
    case Guarantee(a, b) => List(a, b)
    case Bracket(a, b, c) => List(a, b, c)
    case Mask(a) => List(a)
    case Poll(_, a) => List(a)
    case Await(a) => List(a)
    case AwaitOn(a) => List(a)
    case Nested(a) => List(a)
    case ForkJoin(a) => List(a)
    case ForkCancel(a, _) => List(a)
    case Race(a) => List(a)
    case Parallel(a) => List(a)
    case TimeLimit(a) => List(a)
    case Abandon(a) => List(a)
    case Cancelable(a, b) => List(a, b)
    case _ => Nil

/** The effect of a step besides its event. */
enum Kind:
  case Delay, Defer, Cede, Sleep, WaitNow, WaitLater, WaitAndFail, Block

  /** Blocks, and catches the interrupt. */
  case BlockOn

object Program:
  val kinds: List[Kind] = Kind.values.toList

  private val step: Gen[Program] = Gen.oneOf(kinds).map(Step(_))

  private val leaf: Gen[Program] = Gen.frequency(
    14 -> step,
    1 -> Gen.const(Pure),
    2 -> Gen.oneOf(Fail, Throw),
    1 -> Gen.const(Canceled)
  )

  /** Of at most about `size` nodes. */
  def sized(size: Int): Gen[Program] =
    if size <= 1 then leaf
    else
      def one(f: Program => Program): Gen[Program] = Gen.delay(sized(size - 1).map(f))
      def two(f: (Program, Program) => Program): Gen[Program] =
        for
          left <- Gen.choose(1, math.max(1, size - 2))
          a <- sized(left)
          b <- sized(size - 1 - left)
        yield f(a, b)
      Gen.frequency(
        6 -> two(Then(_, _)),
        1 -> one(Mapped(_)),
        1 -> two((a, b) => Sequence(List(a, Step(Kind.Delay), b))),
        1 -> one(Attempt(_)),
        1 -> two(Handle(_, _)),
        2 -> two(OnCancel(_, _)),
        2 -> two(Guarantee(_, _)),
        2 -> two((a, b) => Bracket(Step(Kind.Delay), a, b)),
        1 -> two((a, b) => Bracket(a, b, Step(Kind.Cede))),
        3 -> one(Mask(_)),
        3 -> Gen.choose(0, 2).flatMap(up => one(Poll(up, _))),
        1 -> one(Await(_)),
        1 -> one(AwaitOn(_)),
        1 -> one(Nested(_)),
        1 -> one(ForkJoin(_)),
        1 -> Gen.choose(1, 4).flatMap(at => one(ForkCancel(_, at))),
        1 -> one(Race(_)),
        1 -> one(Parallel(_)),
        1 -> one(TimeLimit(_)),
        1 -> one(Abandon(_)),
        1 -> two(Cancelable(_, _))
      )

  val any: Gen[Program] = Gen.choose(1, 40).flatMap(sized)

  /** From a program to its parts. */
  given Shrink[Program] = Shrink.withLazyList(program => program.children.to(LazyList))
