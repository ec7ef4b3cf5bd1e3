package weir.stream

import scala.annotation.tailrec
import weir.Stream

/** A stream and one more step on the same fiber. A chain of these is a **run**. It is opened as a
  * chain of stages, or, if its shape is opened often, as one `FusedPull`.
  */
private[weir] final class Staged[+A](val upstream: Stream[Any], val step: Step) extends Stream[A]:

  /** The number of steps of the run up to this one. */
  val depth: Int = Staged.unnamed(upstream) match
    case before: Staged[?] if before.depth < Staged.longest => before.depth + 1
    case _ => 1

  private[weir] def open(): Pull = openRun(null)

  override private[weir] def openUntil(end: Step.End): Pull = openRun(end)

  private def openRun(end: Step.End | Null): Pull =
    val length = if Observation.isOn then lengthToName else depth
    val run = new Array[Step](if end eq null then length else length + 1)
    if end ne null then run(length) = end
    var source: Stream[Any] = this
    var index = length
    while index > 0 do
      index -= 1
      val staged = Staged.unnamed(source).asInstanceOf[Staged[Any]]
      run(index) = staged.step
      source = staged.upstream
    val pull = source.open()
    val fused = FusedShapes.open(pull, run, this)
    if fused ne null then fused
    else
      var stage = pull
      while index < length do
        stage = run(index).pull(stage)
        index += 1
      stage

  /** Returns the number of its steps that come after the last name. */
  private def lengthToName: Int =
    var length = 1
    var source = upstream
    while length < depth && source.isInstanceOf[Staged[?]] do
      length += 1
      source = source.asInstanceOf[Staged[Any]].upstream
    length

private[weir] object Staged:
  /** Returns `stream` without the names at its end. */
  @tailrec private def unnamed(stream: Stream[Any]): Stream[Any] = stream match
    case named: Named[Any] => unnamed(named.source)
    case _ => stream

  /** The largest number of steps of one run. Longer ones are split, since the JIT does not compile
    * methods of any size.
    */
  inline val longest = 32
