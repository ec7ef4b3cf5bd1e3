package weir.testkit.explore

import java.util.SplittableRandom
import scala.collection.mutable

/** A program of a few fibers that share variables, locks and a permit, as data: it can be run, and
  * all of its orders can be told without running it.
  *
  * Not in a suite's class: its own code must not be explored.
  */
private[explore] final case class SmallProgram(fibers: Vector[Vector[Item]], areTasks: Boolean):
  override def toString: String =
    val style = if areTasks then "instructions: " else "plain code: "
    fibers.map(_.mkString("; ")).mkString(style, " | ", "")

/** The code of a fiber: one access, or some under a lock. `r` is the fiber's latest value. */
private[explore] enum Item:
  case Get(of: Int)
  case Set(of: Int, value: Int)

  /** Sets to `r` plus `more`. */
  case Put(of: Int, more: Int)
  case Increment(of: Int)
  case Swap(of: Int, from: Int, to: Int)
  case Locked(lock: Int, body: Vector[Item])
  case IfLocked(lock: Int, body: Vector[Item])
  case Acquire
  case Release
  case TryAcquire
  case Yield

private[explore] object SmallProgram:
  /** Variables: two atomics, a field, an element of an array, and a `Ref`, which instructions alone
    * touch.
    */
  val variables = 5
  val ref = 4

  /** Locks: two of the JDK's, and a monitor, which cannot be tried. */
  val locks = 3
  val monitor = 2

  def random(of: SplittableRandom): SmallProgram =
    val count = 2 + of.nextInt(2)
    val areTasks = of.nextBoolean()
    val draw = Draw(of, areTasks)
    val lengths = Vector.fill(count)(1 + of.nextInt(if count == 2 then 4 else 3))
    SmallProgram(lengths.map(n => Vector.fill(n)(draw.item(Set.empty))), areTasks)

  private final class Draw(of: SplittableRandom, areTasks: Boolean):
    /** Few variables, for many conflicts. */
    private val used = Vector.fill(2)(of.nextInt(if areTasks then variables else ref))

    /** An item of a fiber that holds the locks `held`. */
    def item(held: Set[Int]): Item =
      val drawn = used(of.nextInt(used.size))
      val variable = if drawn == ref && held.nonEmpty then 0 else drawn
      val value = 1 + of.nextInt(3)
      of.nextInt(if held.size < 2 then 14 else 7) match
        case 0 | 1 => Item.Get(variable)
        case 2 => Item.Set(variable, value)
        case 3 | 4 => Item.Put(variable, value)
        case 5 => Item.Increment(of.nextInt(2))
        case 6 => Item.Swap(of.nextInt(2), of.nextInt(2), value)
        case 7 | 8 => locked(of.nextInt(locks), held)(Item.Locked(_, _))
        case 9 => locked(of.nextInt(monitor), held)(Item.IfLocked(_, _))
        case 10 => Item.Release
        case 11 => if of.nextInt(3) == 0 then Item.Acquire else Item.TryAcquire
        case _ => if held.isEmpty then Item.Yield else Item.Get(variable)

    private def locked(lock: Int, held: Set[Int])(make: (Int, Vector[Item]) => Item): Item =
      if held(lock) then Item.Release
      else make(lock, Vector.fill(1 + of.nextInt(2))(item(held + lock)))

/** The values that the run of one program has read: written by one fiber at a time. */
private[explore] final class Seen(fibers: Int):
  private val values = Array.fill(fibers)(List.empty[Int])
  val latest: Array[Int] = new Array(fibers)

  def add(fiber: Int, value: Int): Unit =
    latest(fiber) = value
    values(fiber) ::= value

  def text(variables: Seq[Int]): String =
    values.map(_.reverse.mkString(" ")).mkString("", " | ", s" => ${variables.mkString(" ")}")

/** Tells how a program ends in all of its orders with at most so many pre-emptions, by going
  * through them one access at a time.
  */
private[explore] final class AllOrders(program: SmallProgram):
  import AllOrders.*

  private val code = program.fibers.map(compile)
  private val ends = mutable.Set[String]()
  private val known = mutable.Set[(State, Int, Int)]()

  def ends(preemptions: Int): Set[String] =
    ends.clear()
    known.clear()
    val idle = program.fibers.map(_ => Fiber(0, 0, Nil))
    go(
      State(idle, Vector.fill(SmallProgram.variables)(0), Vector.fill(SmallProgram.locks)(-1), 0),
      running = -1,
      preemptions
    )
    ends.toSet

  /** `running` is the fiber that has taken the step before, and could go on; -1 for none. */
  private def go(state: State, running: Int, left: Int): Unit =
    if known.add((state, running, left)) then
      val enabled = code.indices.filter(isEnabled(state, _))
      if enabled.isEmpty then ends += end(state)
      val mayGoOn = running >= 0 && enabled.contains(running)
      for fiber <- enabled do
        val cost = if mayGoOn && fiber != running then 1 else 0
        if cost <= left then
          val isYield = code(fiber)(state.fibers(fiber).at) == Step.Yield
          go(step(state, fiber), if isYield then -1 else fiber, left - cost)

  private def end(state: State): String =
    if code.indices.exists(i => state.fibers(i).at < code(i).size) then "stuck"
    else
      val seen = Seen(code.size)
      for (fiber, i) <- state.fibers.zipWithIndex; value <- fiber.seen.reverse do seen.add(i, value)
      seen.text(state.variables)

  private def isEnabled(state: State, fiber: Int): Boolean =
    val at = state.fibers(fiber).at
    at < code(fiber).size && (code(fiber)(at) match
      case Step.Lock(lock) => state.owners(lock) < 0
      case Step.Acquire => state.permits > 0
      case _ => true)

  private def step(state: State, i: Int): State =
    val fiber = state.fibers(i)
    val next = fiber.copy(at = fiber.at + 1)
    def sees(value: Int, at: Int = next.at) =
      state.copy(fibers = state.fibers.updated(i, Fiber(at, value, value :: fiber.seen)))
    def goesOn = state.copy(fibers = state.fibers.updated(i, next))
    def sets(state: State, variable: Int, value: Int) =
      state.copy(variables = state.variables.updated(variable, value))
    def owns(state: State, lock: Int, by: Int) =
      state.copy(owners = state.owners.updated(lock, by))
    code(i)(fiber.at) match
      case Step.Get(of) => sees(state.variables(of))
      case Step.Set(of, value) => sets(goesOn, of, value)
      case Step.Put(of, more) => sets(goesOn, of, fiber.latest + more)
      case Step.Increment(of) =>
        val value = state.variables(of) + 1
        sets(sees(value), of, value)
      case Step.Swap(of, from, to) =>
        if state.variables(of) == from then sets(sees(1), of, to) else sees(0)
      case Step.Lock(lock) => owns(goesOn, lock, i)
      case Step.Unlock(lock) => owns(goesOn, lock, -1)
      case Step.TryLock(lock, otherwise) =>
        if state.owners(lock) < 0 then owns(sees(1), lock, i) else sees(0, otherwise)
      case Step.Acquire => goesOn.copy(permits = state.permits - 1)
      case Step.Release => goesOn.copy(permits = state.permits + 1)
      case Step.TryAcquire =>
        if state.permits > 0 then sees(1).copy(permits = state.permits - 1) else sees(0)
      case Step.Yield => goesOn

private[explore] object AllOrders:
  enum Step:
    case Get(of: Int)
    case Set(of: Int, value: Int)
    case Put(of: Int, more: Int)
    case Increment(of: Int)
    case Swap(of: Int, from: Int, to: Int)
    case Lock(lock: Int)
    case Unlock(lock: Int)
    case TryLock(lock: Int, otherwise: Int)
    case Acquire, Release, TryAcquire, Yield

  final case class Fiber(at: Int, latest: Int, seen: List[Int])

  final case class State(
      fibers: Vector[Fiber],
      variables: Vector[Int],
      owners: Vector[Int],
      permits: Int
  )

  def compile(items: Vector[Item]): Vector[Step] = compile(items, 0)

  /** The steps of `items`, the first of which is at `at`. */
  private def compile(items: Vector[Item], at: Int): Vector[Step] =
    items.foldLeft(Vector.empty[Step])((steps, item) => steps ++ compiled(item, at + steps.size))

  private def compiled(item: Item, at: Int): Vector[Step] = item match
    case Item.Get(of) => Vector(Step.Get(of))
    case Item.Set(of, value) => Vector(Step.Set(of, value))
    case Item.Put(of, more) => Vector(Step.Put(of, more))
    case Item.Increment(of) => Vector(Step.Increment(of))
    case Item.Swap(of, from, to) => Vector(Step.Swap(of, from, to))
    case Item.Locked(lock, body) => Step.Lock(lock) +: compile(body, at + 1) :+ Step.Unlock(lock)
    case Item.IfLocked(lock, body) =>
      val inside = compile(body, at + 1) :+ Step.Unlock(lock)
      Step.TryLock(lock, at + 1 + inside.size) +: inside
    case Item.Acquire => Vector(Step.Acquire)
    case Item.Release => Vector(Step.Release)
    case Item.TryAcquire => Vector(Step.TryAcquire)
    case Item.Yield => Vector(Step.Yield)
