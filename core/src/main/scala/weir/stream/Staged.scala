package weir.stream

import weir.Stream

/** A stream and one more step on the same fiber. A chain of these is a **run**: it is opened as a
  * chain of stages, or, where its shape is opened often, as one `FusedPull`.
  */
private[weir] final class Staged[+A](val upstream: Stream[Any], val step: Step) extends Stream[A]:

  /** How many steps the run has up to this one. */
  val depth: Int = upstream match
    case before: Staged[?] if before.depth < Staged.longest => before.depth + 1
    case _ => 1

  private[weir] def open(): Pull = openRun(null)

  override private[weir] def openUntil(end: Step.End): Pull = openRun(end)

  private def openRun(end: Step.End | Null): Pull =
    val run = new Array[Step](if end eq null then depth else depth + 1)
    if end ne null then run(depth) = end
    var source: Stream[Any] = this
    var index = depth
    while index > 0 do
      index -= 1
      val staged = source.asInstanceOf[Staged[Any]]
      run(index) = staged.step
      source = staged.upstream
    val pull = source.open()
    val fused = FusedShapes.open(pull, run, this)
    if fused ne null then fused
    else
      var stage = pull
      while index < depth do
        stage = run(index).pull(stage)
        index += 1
      stage

private[weir] object Staged:
  /** The most steps of one run. Longer ones are several, since the JIT does not compile methods of
    * any size.
    */
  inline val longest = 32
