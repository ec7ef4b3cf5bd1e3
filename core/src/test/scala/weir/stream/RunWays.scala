package weir
package stream

/** The ways to run the last steps of a stream: as one loop, or as a chain of stages. */
private trait RunWays:
  final protected type Way = (Pull, Array[Step]) => Pull

  final protected val fused: Way = (source, steps) =>
    FusedClass.of(source, steps).open(source, steps, Stream.empty)
  final protected val chained: Way = (source, steps) =>
    steps.foldLeft(source)((upstream, step) => step.pull(upstream))

  /** `stream`, whose last steps are run in this way. */
  final protected def endRun(stream: Stream[Int], way: Way): Stream[Int] =
    def unstaged(from: Stream[Any], steps: List[Step]): (Stream[Any], List[Step]) = from match
      case staged: Staged[Any] => unstaged(staged.upstream, staged.step :: steps)
      case other => (other, steps)
    val (source, steps) = unstaged(stream, Nil)
    if steps.isEmpty then stream else Stream.of(() => way(source.open(), steps.toArray))
