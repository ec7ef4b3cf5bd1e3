package weir.laws

import org.scalacheck.Gen
import scala.compiletime.{constValueTuple, summonAll}
import scala.deriving.Mirror

/** A task as data, made of every kind of instruction that there is, for the laws of Cats Effect.
  *
  * Its effects depend on nothing but itself: of fibers that run at the same time, all but one only
  * wait. So both sides of a law do the same, whatever the order of their fibers. Durations are
  * nanoseconds out of so many that no two alarms come together.
  */
enum LawProgram:
  case Pure(n: Int)
  case Fail(n: Int)
  case Delay(n: Int)
  case Throw(n: Int)
  case Canceled(n: Int)

  /** Requests the cancel of the main fiber, from outside of it. */
  case CancelMain(nanos: Long, n: Int)
  case Cede(n: Int)
  case Never
  case Clock(n: Int)
  case Sleep(nanos: Long, n: Int)

  /** A callback that is called twice before the registration returns. */
  case AsyncNow(error: Boolean, n: Int)
  case AsyncLater(nanos: Long, error: Boolean, n: Int)
  case AsyncHook(nanos: Long, n: Int, hook: LawProgram)
  case AsyncNever(hook: LawProgram)
  case Map(source: LawProgram, n: Int)
  case Ap(function: LawProgram, source: LawProgram)
  case FlatMap(source: LawProgram, next: LawProgram)
  case Sequence(first: LawProgram, second: LawProgram)
  case Attempt(source: LawProgram)
  case Handle(source: LawProgram, handler: LawProgram)
  case ForceR(first: LawProgram, second: LawProgram)
  case OnCancel(source: LawProgram, finalizer: LawProgram)
  case Guarantee(source: LawProgram, finalizer: LawProgram)
  case Bracket(acquire: LawProgram, use: LawProgram, release: LawProgram)
  case Use(acquire: LawProgram, use: LawProgram, release: LawProgram)
  case Mask(body: LawProgram)

  /** Polled by the mask that is the `up`-th around it, whichever fiber that is in. */
  case Polled(up: Int, body: LawProgram)
  case Start(child: LawProgram, n: Int)
  case StartJoin(child: LawProgram, meanwhile: LawProgram)

  /** Cancelled by its parent after that time. */
  case StartCancel(child: LawProgram, nanos: Long)

  /** A race against a task that never ends. */
  case RaceNever(child: LawProgram, isLeft: Boolean)
  case RaceSleep(child: LawProgram, nanos: Long, isLeft: Boolean)
  case Both(child: LawProgram, nanos: Long)
  case Timeout(child: LawProgram, nanos: Long)
  case TimeoutTo(child: LawProgram, nanos: Long, fallback: LawProgram)
  case Cancelable(child: LawProgram, hook: LawProgram)
  case ThroughRef(source: LawProgram)

  /** Waits for the value that another fiber sets. */
  case ThroughDeferred(source: LawProgram)

  /** With a permit that another fiber holds for so long. */
  case WithPermit(nanos: Long, body: LawProgram)

  def children: List[LawProgram] =
    productIterator.collect { case child: LawProgram => child }.toList

  /** The same with another child at `place`. */
  def withChild(place: Int, child: LawProgram): LawProgram =
    var seen = -1
    val parts = productIterator
      .map {
        case part: LawProgram =>
          seen += 1
          if seen == place then child else part
        case part => part
      }
      .toArray[Any]
    LawProgram.mirrors(ordinal).fromProduct(Tuple.fromArray(parts))

  /** Smaller programs that are like this one, the smallest first. */
  def smaller: LazyList[LawProgram] =
    val leaves = LazyList(Pure(0), Delay(0)).filter(_ => children.nonEmpty)
    leaves ++ children ++ children.zipWithIndex.to(LazyList).flatMap { (child, place) =>
      child.smaller.map(withChild(place, _))
    }

object LawProgram:
  private val sum = summon[Mirror.SumOf[LawProgram]]

  /** The names of all instructions. */
  val kinds: List[String] = constValueTuple[sum.MirroredElemLabels].toList.map(_.toString)

  /** The mirrors that make each kind of instruction from its parts. */
  private val mirrors = summonAll[Tuple.Map[sum.MirroredElemTypes, Mirror.ProductOf]].toList
    .asInstanceOf[List[Mirror.ProductOf[LawProgram]]]

  private val number = Gen.choose(0, 9)
  private val nanos = Gen.choose(1L, 4_000_000_000L)
  private val either = Gen.oneOf(true, false)

  private val ownLeaf: Gen[LawProgram] = Gen.frequency(
    2 -> number.map(Pure(_)),
    2 -> number.map(Fail(_)),
    6 -> number.map(Delay(_)),
    1 -> number.map(Throw(_)),
    3 -> number.map(Canceled(_)),
    1 -> number.map(Cede(_)),
    1 -> Gen.const(Never),
    1 -> number.map(Clock(_)),
    2 -> Gen.zip(nanos, number).map(Sleep(_, _)),
    1 -> Gen.zip(either, number).map(AsyncNow(_, _)),
    2 -> Gen.zip(nanos, either, number).map(AsyncLater(_, _, _))
  )

  private val leaf: Gen[LawProgram] =
    Gen.frequency(10 -> ownLeaf, 1 -> Gen.zip(nanos, number).map(CancelMain(_, _)))

  /** Of at most about `size` instructions. */
  private def sized(size: Int, leaf: Gen[LawProgram]): Gen[LawProgram] =
    def sized(size: Int) = this.sized(size, leaf)
    if size <= 1 then leaf
    else
      def one(f: LawProgram => LawProgram): Gen[LawProgram] = Gen.delay(sized(size - 1).map(f))
      def timed(f: (LawProgram, Long) => LawProgram): Gen[LawProgram] =
        nanos.flatMap(n => one(f(_, n)))
      def numbered(f: (LawProgram, Int) => LawProgram): Gen[LawProgram] =
        number.flatMap(n => one(f(_, n)))
      def two(f: (LawProgram, LawProgram) => LawProgram): Gen[LawProgram] =
        for
          left <- Gen.choose(1, math.max(1, size - 2))
          a <- sized(left)
          b <- sized(size - 1 - left)
        yield f(a, b)
      def three(f: (LawProgram, LawProgram, LawProgram) => LawProgram): Gen[LawProgram] =
        for
          a <- sized(size / 3)
          b <- sized(size / 3)
          c <- sized(size / 3)
        yield f(a, b, c)
      Gen.frequency(
        1 -> numbered(Map(_, _)),
        1 -> two(Ap(_, _)),
        4 -> two(FlatMap(_, _)),
        1 -> two(Sequence(_, _)),
        1 -> one(Attempt(_)),
        1 -> two(Handle(_, _)),
        1 -> two(ForceR(_, _)),
        3 -> two(OnCancel(_, _)),
        1 -> two(Guarantee(_, _)),
        1 -> three(Bracket(_, _, _)),
        1 -> three(Use(_, _, _)),
        4 -> one(Mask(_)),
        3 -> Gen.choose(0, 2).flatMap(up => one(Polled(up, _))),
        1 -> Gen.zip(nanos, number).flatMap((t, n) => one(AsyncHook(t, n, _))),
        1 -> one(AsyncNever(_)),
        1 -> numbered(Start(_, _)),
        1 -> two(StartJoin(_, _)),
        1 -> timed(StartCancel(_, _)),
        1 -> either.flatMap(left => one(RaceNever(_, left))),
        1 -> either.flatMap(left => timed(RaceSleep(_, _, left))),
        1 -> timed(Both(_, _)),
        1 -> timed(Timeout(_, _)),
        1 -> nanos.flatMap(n => two(TimeoutTo(_, n, _))),
        1 -> two(Cancelable(_, _)),
        1 -> one(ThroughRef(_)),
        1 -> one(ThroughDeferred(_)),
        1 -> timed((body, n) => WithPermit(n, body))
      )

  val any: Gen[LawProgram] = Gen.choose(1, 24).flatMap(sized(_, leaf))

  /** A program that does not touch the main fiber: for laws whose sides run it in different fibers.
    */
  val ofChild: Gen[LawProgram] = Gen.choose(1, 24).flatMap(sized(_, ownLeaf))
