package weir

import java.util.SplittableRandom
import java.util.concurrent.ConcurrentLinkedQueue
import scala.jdk.CollectionConverters.*

/** One primitive under stress: the operation that fibers repeat, and the conditions that must hold
  * once all fibers have ended.
  *
  * An operation may be cancelled at any point. So its effect and its note of that must be one: the
  * operation is masked, with polls around its waits.
  */
abstract class PrimitiveRig(val name: String):

  /** Returns the number of fibers that use it at once. */
  def fibers: Int = 4

  /** One operation of the fiber `id`. No two fibers have the same one at the same time. */
  def operation(id: Int, random: SplittableRandom): Task[Any]

  /** True if an operation that is not cancelled ends, as long as the other fibers go on. */
  def operationsEnd: Boolean = true

  /** Called when all fibers have ended, which may continue later: takes out the values that they
    * have left in the primitive, which are no leak.
    */
  def empty()(using WeirRuntime): Unit = ()

  /** Called when all fibers have ended, after `empty`: notes each fault, by `wrong`. */
  def finish()(using WeirRuntime): Unit

  private val errors = ConcurrentLinkedQueue[String]()

  final def wrong(what: String): Unit = if errors.size < 10 then errors.add(s"$name: $what"): Unit

  final def expect(what: String, found: Any, expected: Any): Unit =
    if found != expected then wrong(s"$what: $found, not $expected")

  final def allErrors: List[String] = errors.asScala.toList

  /** `wait`, which may be cancelled, and `note`, which is run if and only if it was not. */
  final protected def noted[A](wait: Task[A])(note: A => Unit): Task[Unit] =
    Task.uncancelable(poll => poll(wait).map(note))

  /** Now and then, lets others in. */
  final protected def sometimes(random: SplittableRandom): Task[Unit] =
    if random.nextInt(4) == 0 then Task.cede else Task.unit
