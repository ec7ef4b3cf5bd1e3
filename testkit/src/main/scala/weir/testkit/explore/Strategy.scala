package weir.testkit.explore

import scala.collection.mutable.ArrayBuffer

/** Decides, in one run after the other, which strand takes the next step. */
private[explore] abstract class Strategy:

  /** The number of times in a row that a strand may yield before another one has to take a step. */
  def yieldsInRow: Int = Int.MaxValue

  /** Returns the strand that takes step `point.step`, one of those that can. */
  def choose(point: Point): Int

  /** Reports that step `earlier` of this run conflicts with the present step of the strand `by`,
    * and that nothing else orders the two.
    */
  def race(earlier: Int, by: Int): Unit = ()

  /** Reports that the strand which was chosen for step `point.step` cannot take it: the thread of
    * the strand before runs code that it cannot leave, such as an initializer of a class. So
    * `instead` goes on.
    */
  def refused(point: Point, instead: Int): Unit = ()

/** A decision: which of `enabled` takes step `step`. One object serves all decisions of a run. */
private[explore] final class Point:
  var step = 0

  /** The strand that has taken the step before; -1 for none. */
  var previous = -1

  /** True if that strand could go on, so that another choice is a pre-emption. */
  var continues = false

  /** The strands that can take a step, in the order in which they were made. */
  val enabled: ArrayBuffer[Int] = ArrayBuffer()

  /** The strand that could take a step too, but has yielded too often in a row; -1 for none. */
  var heldBack = -1

  /** The strand that disturbs the program, which may come at any time, without a pre-emption; -1
    * for none.
    */
  var disturbing = -1

  /** True if that strand comes now, if it has not come before. */
  var isLast = false

  /** The strand that moves the clock; -1 for none. */
  var mover = -1

  /** True if each choice is tried, whatever the races. */
  var branches = false

  /** Returns the choice if nothing else is wanted: no pre-emption, or else the next strand in turn.
    * The clock moves after all others, and the strand that disturbs is the last.
    */
  def default: Int =
    if isLast && enabled.contains(disturbing) then disturbing
    else if continues then previous
    else if enabled.length == 1 then enabled(0)
    else
      var found = -1
      var first = -1
      var i = 0
      while found < 0 && i < enabled.length do
        val id = enabled(i)
        if id != disturbing && id != mover then
          if first < 0 then first = id
          if id > previous then found = id
        i += 1
      if found >= 0 then found
      else if first >= 0 then first
      else mover

  def isPreemption(chosen: Int): Boolean =
    continues && chosen != previous && chosen != disturbing

/** The choices of a run that differ from the default, by the number of the step. They suffice to
  * repeat the run.
  */
private[explore] final case class Choices(deviations: Vector[(Int, Int)])

/** Repeats the choices of an earlier run. If a choice is not possible, takes the default. */
private[explore] final class Replay(deviations: Seq[(Int, Int)]) extends Strategy:
  private val wanted = deviations.toMap

  /** The number of choices that were not possible. */
  var misfits = 0

  def choose(point: Point): Int = wanted.get(point.step) match
    case Some(id) if point.enabled.contains(id) => id
    case Some(_) =>
      misfits += 1
      point.default
    case None => point.default
