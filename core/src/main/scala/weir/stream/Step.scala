package weir.stream

import scala.collection.mutable.ListBuffer
import weir.Task
import weir.fiber.HoldsUserCode

/** A step of a stream on one fiber, as data. `pull` makes the stage that it means. `FusedClass`
  * writes the same as a part of one loop for a whole run of steps.
  */
private[weir] sealed abstract class Step extends HoldsUserCode:
  /** Returns this step as a stage of its own. */
  def pull(upstream: Pull): Pull

  /** Returns the largest number of elements that are asked of upstream if `count` are asked of this
    * step; `Long.MaxValue` if that is not known.
    */
  def demand(count: Long): Long = Long.MaxValue

  // The class of a fused run reads these, if the step has them.

  /** Returns the user's function. */
  def function: AnyRef | Null = null
  def zero: Any = null
  def count: Long = 0

private[weir] object Step:
  final class Map(f: Any => Any) extends Step:
    override def function: AnyRef = f
    override def demand(count: Long): Long = count
    def pull(upstream: Pull): Pull = MapStage(upstream, f)

  final class Filter(keep: Any => Boolean) extends Step:
    override def function: AnyRef = keep
    def pull(upstream: Pull): Pull = FilterStage(upstream, keep)

  final class Collect(f: PartialFunction[Any, Any]) extends Step:
    override def function: AnyRef = f
    def pull(upstream: Pull): Pull = CollectStage(upstream, f)

  final class EvalMap(f: Any => Task[Any]) extends Step:
    override def function: AnyRef = f
    override def demand(count: Long): Long = count
    def pull(upstream: Pull): Pull = EvalMapStage(upstream, f)

  final class Take(limit: Long) extends Step:
    override def count: Long = limit
    override def demand(count: Long): Long = math.min(count, math.max(limit, 0))
    def pull(upstream: Pull): Pull = TakeStage(upstream, limit)

  final class Drop(skipped: Long) extends Step:
    override def count: Long = skipped
    override def demand(count: Long): Long =
      count + math.min(math.max(skipped, 0), Long.MaxValue - count)
    def pull(upstream: Pull): Pull = DropStage(upstream, skipped)

  final class TakeWhile(keep: Any => Boolean) extends Step:
    override def function: AnyRef = keep
    override def demand(count: Long): Long = count
    def pull(upstream: Pull): Pull = TakeWhileStage(upstream, keep)

  /** Emits elements as long as `keep` is true for them, and also the first one for which it is
    * false.
    */
  final class TakeThrough(keep: Any => Boolean) extends Step:
    override def function: AnyRef = keep
    override def demand(count: Long): Long = count
    def pull(upstream: Pull): Pull = TakeThroughStage(upstream, keep)

  final class DropWhile(drop: Any => Boolean) extends Step:
    override def function: AnyRef = drop
    def pull(upstream: Pull): Pull = DropWhileStage(upstream, drop)

  final class Scan(override val zero: Any, f: (Any, Any) => Any) extends Step:
    override def function: AnyRef = f
    override def demand(count: Long): Long =
      if count == Long.MaxValue then count else math.max(count - 1, 0)
    def pull(upstream: Pull): Pull = ScanStage(upstream, zero, f)

  final class MapAccumulate(override val zero: Any, f: (Any, Any) => (Any, Any)) extends Step:
    override def function: AnyRef = f
    override def demand(count: Long): Long = count
    def pull(upstream: Pull): Pull = MapAccumulateStage(upstream, zero, f)

  final class ZipWithIndex extends Step:
    override def demand(count: Long): Long = count
    def pull(upstream: Pull): Pull = ZipWithIndexStage(upstream)

  final class MapConcat(f: Any => IterableOnce[Any]) extends Step:
    override def function: AnyRef = f
    def pull(upstream: Pull): Pull = MapConcatStage(upstream, f)

  /** Emits the elements that are not equal to the element before them. */
  final class Changes extends Step:
    def pull(upstream: Pull): Pull = ChangesStage(upstream)

  /** The end of a stream, which makes one result of all elements. It is not a stage: it is the last
    * step of a fused run, or else the loop in `RunStream` does its work.
    */
  sealed abstract class End extends Step:
    def pull(upstream: Pull): Pull = throw UnsupportedOperationException("an end is no stage")

    /** Returns the object to which one run of the stream passes its elements. */
    def begin(): Result

  /** The state of an end in one run. */
  sealed abstract class Result:
    def add(value: Any): Unit
    def result: Any

  final class Fold(override val zero: Any, f: (Any, Any) => Any) extends End:
    override def function: AnyRef = f
    def begin(): Result = new Result:
      private var state = zero
      def add(value: Any): Unit = state = f(state, value)
      def result: Any = state

  final class Drain extends End:
    def begin(): Result = new Result:
      def add(value: Any): Unit = ()
      def result: Any = ()

  final class Count extends End:
    def begin(): Result = new Result:
      private var counted = 0L
      def add(value: Any): Unit = counted += 1
      def result: Any = counted

  final class ToList extends End:
    def begin(): Result = new Result:
      private val elements = ListBuffer[Any]()
      def add(value: Any): Unit = elements += value
      def result: Any = elements.toList
