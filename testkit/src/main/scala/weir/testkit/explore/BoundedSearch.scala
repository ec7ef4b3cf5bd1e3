package weir.testkit.explore

import scala.collection.mutable.ArrayBuffer

/** Runs the orders of a program with at most `bound` pre-emptions, depth first, without those that
  * differ only in the order of steps that touch nothing in common.
  *
  * Each run repeats the choices of the one before up to the deepest place where another choice is
  * left to try, and continues by default from there. The choices to try at a place come only from
  * races. If a step conflicts with an earlier one of another strand, and nothing else orders the
  * two, its strand is tried at the place of the earlier one. That is dynamic partial-order
  * reduction (Flanagan and Godefroid 2005).
  *
  * With a bound on pre-emptions (Musuvathi and Qadeer 2007) that alone would lose orders: the
  * strand may come too late there, since a pre-emption is one too many. So it is also tried at the
  * begin of the block of steps that the earlier one belongs to, where another strand costs no more:
  * there the strand before had just stopped, or the strand itself had yielded. And all races count,
  * not only the latest of each step. That is the conservative reduction of Coons, Musuvathi and
  * McKinley (2013). Sleep sets are not used: they are not sound under a bound. Without `reduces` it
  * runs all orders; tests compare the two.
  *
  * A strand that yields more than `yieldsInRow` times in a row is held back until another one has
  * taken a step, as in fair search (Musuvathi and Qadeer, PLDI 2008). Otherwise a loop that yields
  * until another strand has done something would have infinitely many orders.
  */
private[explore] final class BoundedSearch(
    bound: Int,
    reduces: Boolean = true,
    override val yieldsInRow: Int = BoundedSearch.fewYields
) extends Strategy:
  private val places = ArrayBuffer[BoundedSearch.Place]()

  /** True if an order was left out since it has too many pre-emptions. */
  var isCut = false

  /** True if an order was left out since a strand was held back that had yielded. */
  var isHeldBack = false

  /** The step at which a run did not repeat the one before, and the strands there, if any. */
  var divergence: (Int, String) | Null = null

  def choose(point: Point): Int =
    val step = point.step
    if step < places.length then
      val place = places(step)
      if place.isSame(point) then place.chosen
      else
        if divergence eq null then
          divergence = (
            step,
            s"strands ${place.enabled.mkString(", ")} could run before, and now " +
              s"${point.enabled.mkString(", ")}"
          )
        places.takeInPlace(step)
        add(point)
    else add(point)

  private def add(point: Point): Int =
    val before = if places.isEmpty then 0 else places.last.preemptions
    val place = BoundedSearch.Place(
      point.enabled.toArray,
      point.previous,
      point.continues,
      point.default,
      before,
      point.disturbing,
      point.heldBack
    )
    places += place
    if !reduces || point.branches then point.enabled.foreach(place.add)
    place.chosen

  override def refused(point: Point, instead: Int): Unit = places(point.step).refuse(instead)

  override def race(earlier: Int, by: Int): Unit =
    tryAt(earlier, by)
    val begin = beginOfBlock(earlier)
    if begin != earlier then tryAt(begin, by)

  /** Returns the first of the steps in a row that the strand of `step` takes, or the latest of them
    * before which the strand has yielded. A step that disturbs does not end a row.
    */
  private def beginOfBlock(step: Int): Int =
    var begin = step
    var before = step - 1
    while before >= 0 && !places(begin).isFree do
      val place = places(before)
      if place.chosen == places(step).chosen then begin = before
      before = if place.chosen == places(step).chosen || place.isDisturbed then before - 1 else -1
    begin

  private def tryAt(step: Int, strand: Int): Unit =
    val place = places(step)
    if strand == place.heldBack then isHeldBack = true
    if place.enabled.contains(strand) then place.add(strand)
    else place.enabled.foreach(place.add)

  /** Reports that the run has ended after so many steps. */
  def ended(steps: Int): Unit =
    if places.length > steps then
      if divergence eq null then divergence = (steps, "the program ended, and it did not before")
      places.takeInPlace(steps): Unit

  /** Prepares the next run. Returns false if there is none. */
  def next(): Boolean =
    var found = false
    while !found && places.nonEmpty do
      val place = places.last
      val candidate = place.next(bound)
      if place.isCut then isCut = true
      if candidate >= 0 then
        place.choose(candidate)
        found = true
      else places.dropRightInPlace(1)
    found

private[explore] object BoundedSearch:
  val fewYields = 2

  /** A place where a choice was made: before one step of the present run. */
  final class Place(
      val enabled: Array[Int],
      previous: Int,
      continues: Boolean,
      var chosen: Int,
      before: Int,
      disturbing: Int,
      val heldBack: Int
  ):
    /** The strands that are left to try. */
    private val left = ArrayBuffer[Int]()
    private val tried = ArrayBuffer(chosen)
    private val refused = ArrayBuffer[Int]()
    var isCut = false

    /** Returns the number of pre-emptions, including the one that is made here. */
    def preemptions: Int = before + cost(chosen)

    private def cost(strand: Int) =
      if continues && strand != previous && strand != disturbing then 1 else 0

    /** Returns true if any strand may come here without a pre-emption. */
    def isFree: Boolean = !continues

    /** Returns true if the step is that of the strand that disturbs. */
    def isDisturbed: Boolean = chosen == disturbing

    def isSame(point: Point): Boolean =
      point.previous == previous && point.continues == continues &&
        point.enabled.length == enabled.length && enabled.indices.forall(i =>
          point.enabled(i) == enabled(i)
        )

    def add(strand: Int): Unit =
      if !tried.contains(strand) && !left.contains(strand) then left += strand

    def next(bound: Int): Int =
      var found = -1
      while found < 0 && left.nonEmpty do
        val strand = left.remove(0)
        tried += strand
        if before + cost(strand) <= bound then found = strand else isCut = true
      found

    def choose(strand: Int): Unit = chosen = strand

    /** Reports that the choice was not possible. It is tried again once: classes are initialized
      * once.
      */
    def refuse(instead: Int): Unit =
      if !refused.contains(chosen) then
        refused += chosen
        tried -= chosen
        left += chosen
      chosen = instead
      if !tried.contains(instead) then tried += instead
