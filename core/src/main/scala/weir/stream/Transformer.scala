package weir.stream

import scala.collection.mutable.ArrayDeque
import weir.Stream
import weir.fiber.TaskFiber

/** The work of a stage with a state of its own: it gets each element, and then the end, and puts
  * its results into `out`. One serves one run of a stream.
  */
private[weir] abstract class Transformer[-A, B]:
  protected val out: ArrayDeque[B] = ArrayDeque.empty[B]
  def add(value: A): Unit
  def end(): Unit = ()

  private[stream] final def ready: ArrayDeque[B] = out

/** Emits the results of `transformer` for the elements of upstream. */
private[weir] final class TransformStage[A, B](upstream: Pull, transformer: Transformer[A, B])
    extends Stage(upstream):
  private val ready = transformer.ready
  private var ended = false

  def next(fiber: TaskFiber): Any =
    while ready.isEmpty && !ended do
      val value = upstream.next(fiber)
      if Pull.isEnd(value) then
        ended = true
        transformer.end()
      else transformer.add(value.asInstanceOf[A])
    if ready.isEmpty then Pull.End else ready.removeHead()

  override def isSpent: Boolean = ended && ready.isEmpty && upstream.holdsNothing

private[weir] object Transformer:
  /** Emits the last `count` elements, once upstream has ended. */
  final class TakeRight[A](count: Int) extends Transformer[A, A]:
    private val kept = ArrayDeque.empty[A]
    def add(value: A): Unit =
      if count > 0 then
        if kept.size == count then kept.removeHead(): Unit
        kept += value: Unit
    override def end(): Unit = out ++= kept: Unit

  /** Emits all but the last `count` elements: each comes when `count` others have come after it. */
  final class DropRight[A](count: Int) extends Transformer[A, A]:
    private val held = ArrayDeque.empty[A]
    def add(value: A): Unit =
      held += value
      if held.size > count then out += held.removeHead(): Unit

  /** Emits each element with the one after it, if there is one. */
  final class WithNext[A] extends Transformer[A, (A, Option[A])]:
    private var before = Option.empty[A]
    def add(value: A): Unit =
      before.foreach(b => out += ((b, Some(value))))
      before = Some(value)
    override def end(): Unit = before.foreach(b => out += ((b, None)))

  /** Emits each element as a `Some`, then `None`. */
  final class WithEnd[A] extends Transformer[A, Option[A]]:
    def add(value: A): Unit = out += Some(value): Unit
    override def end(): Unit = out += None: Unit

  final class Intersperse[A](separator: A) extends Transformer[A, A]:
    private var begun = false
    def add(value: A): Unit =
      if begun then out += separator: Unit
      begun = true
      out += value: Unit

  /** Emits windows of `size` elements. Each window begins `step` elements after the one before it.
    * The last one is smaller if elements are left that no other window has.
    */
  final class Sliding[A](size: Int, step: Int) extends Transformer[A, Vector[A]]:
    private var window = Vector.empty[A]
    private var unseen = 0
    private var skipped = 0
    def add(value: A): Unit =
      if skipped > 0 then skipped -= 1
      else
        window = window :+ value
        unseen += 1
        if window.size == size then
          out += window
          window = window.drop(step)
          skipped = math.max(0, step - size)
          unseen = 0
    override def end(): Unit = if unseen > 0 then out += window: Unit

  /** Emits groups of neighbours. `cut` returns true if the present group ends before `value`;
    * `made` returns the result for a group.
    */
  abstract class Groups[A, B] extends Transformer[A, B]:
    private val group = Vector.newBuilder[A]
    private var isEmpty = true
    protected def cut(value: A): Boolean
    protected def made(group: Vector[A]): B
    def add(value: A): Unit =
      if !isEmpty && cut(value) then end()
      group += value
      isEmpty = false
    override def end(): Unit = if !isEmpty then
      out += made(group.result())
      group.clear()
      isEmpty = true

  final class Adjacent[A, K](key: A => K) extends Groups[A, (K, Vector[A])]:
    private var current = Option.empty[K]
    protected def cut(value: A): Boolean = !current.contains(key(value))
    protected def made(group: Vector[A]): (K, Vector[A]) = (current.get, group)
    override def add(value: A): Unit =
      super.add(value)
      current = Some(key(value))

  final class Weighted[A](limit: Long, weight: A => Long) extends Groups[A, Vector[A]]:
    private var sum = 0L
    private var next = 0L
    protected def cut(value: A): Boolean = next > limit - sum // `sum + next` may overflow
    protected def made(group: Vector[A]): Vector[A] =
      sum = 0
      group
    override def add(value: A): Unit =
      next = Stream.notNegative("chunkWeighted", "weight", weight(value))
      super.add(value)
      sum += next

  /** Emits the elements between those for which `at` is true, which are left out. */
  final class Split[A](at: A => Boolean) extends Transformer[A, Vector[A]]:
    private val section = Vector.newBuilder[A]
    private var isOpen = false
    def add(value: A): Unit =
      if at(value) then
        out += section.result()
        section.clear()
        isOpen = false
      else
        section += value
        isOpen = true
    override def end(): Unit = if isOpen then out += section.result(): Unit

  final class ChangesBy[A, K](key: A => K) extends Transformer[A, A]:
    private var last = Option.empty[K]
    def add(value: A): Unit =
      val now = Some(key(value))
      if now != last then out += value: Unit
      last = now

  final class DistinctBy[A, K](key: A => K) extends Transformer[A, A]:
    private val seen = scala.collection.mutable.HashSet.empty[K]
    def add(value: A): Unit = if seen.add(key(value)) then out += value: Unit
