package weir.stream

import java.lang.ref.WeakReference
import java.util.concurrent.atomic.AtomicInteger
import weir.Stream

/** Finds the shape of a run, and the class for it once it has been opened often.
  *
  * Two runs have the same shape if their sources, their steps and the functions in them are of the
  * same classes. A shape is kept with the class of its last function, so both are unloaded
  * together. It knows the other classes only by weak references. If a class is the last function of
  * many shapes, such as that of `f.andThen(g)`, only the first few of them get classes.
  */
private[weir] object FusedShapes:
  /** The number of times that a shape is opened before a class is made for it; `weir.fusion.after`.
    */
  val after: Int = Integer.getInteger("weir.fusion.after", 50).intValue

  /** True unless `-Dweir.fusion=false` is set, which makes no classes: it is for a native image, in
    * which none can be made.
    */
  val isOn: Boolean = System.getProperty("weir.fusion", "true") != "false"

  /** The largest number of shapes that are kept with one class. */
  private inline val mostOfOne = 16

  /** The largest number of classes that are made. */
  private inline val most = 4096

  private val made = AtomicInteger()

  private final class Shape(source: Class[?], steps: Array[Step]):
    private val sourceClass = WeakReference[Class[?]](source)
    private val kinds: Array[Class[?]] = steps.map(_.getClass)
    private val functions = steps.map { step =>
      val function = step.function
      if function eq null then null else WeakReference[Class[?]](function.getClass)
    }
    private val opened = AtomicInteger()
    @volatile private var prototype: FusedPull | Null = null

    def is(source: Class[?], steps: Array[Step]): Boolean =
      steps.length == kinds.length && (sourceClass.get eq source) && {
        var index = 0
        while index < kinds.length && isStep(index, steps(index)) do index += 1
        index == kinds.length
      }

    private def isStep(index: Int, step: Step): Boolean =
      (step.getClass eq kinds(index)) && {
        val function = step.function
        (function eq null) || (functions(index).nn.get eq function.getClass)
      }

    def open(source: Pull, steps: Array[Step], description: Stream[Any]): FusedPull | Null =
      var known = prototype
      // Read first: if no class is made, the line is not written for each run.
      if (known eq null) && opened.get < after && opened.incrementAndGet() == after &&
        made.incrementAndGet() <= most
      then
        known = make(source, steps)
        prototype = known
      if known eq null then null else known.open(source, steps, description)

  /** Makes the class and returns a pull of it. Returns null if the JVM makes no classes: the run
    * stays a chain of stages.
    */
  private def make(source: Pull, steps: Array[Step]): FusedPull | Null =
    try FusedClass.of(source, steps)
    catch case _: (LinkageError | UnsupportedOperationException) => null

  private final class Shapes:
    @volatile private var shapes = new Array[Shape](0)

    def find(source: Class[?], steps: Array[Step]): Shape | Null =
      val known = shapes
      var index = 0
      while index < known.length && !known(index).is(source, steps) do index += 1
      if index < known.length then known(index) else add(source, steps)

    private def add(source: Class[?], steps: Array[Step]): Shape | Null = synchronized {
      val known = shapes
      known.find(_.is(source, steps)) match
        case Some(shape) => shape
        case None if known.length < mostOfOne =>
          val shape = Shape(source, steps)
          shapes = known :+ shape
          shape
        case None => null
    }

  private val ofFunction = new ClassValue[Shapes]:
    override def computeValue(function: Class[?]): Shapes = Shapes()

  /** Returns the run as one pull, or null if there is no class for its shape yet. */
  def open(source: Pull, steps: Array[Step], description: Stream[Any]): FusedPull | Null =
    if !isOn then null
    else
      var last: AnyRef | Null = null
      var index = steps.length - 1
      while index >= 0 && (last eq null) do
        last = steps(index).function
        index -= 1
      val at = if last eq null then steps(steps.length - 1).getClass else last.getClass
      val shape = ofFunction.get(at).find(sourceClass(source), steps)
      if shape eq null then null else shape.open(source, steps, description)

  /** Returns the class that stands for a source. The elements of a collection come from an iterator
    * whose class depends on the collection's.
    */
  private def sourceClass(source: Pull): Class[?] = source match
    case iterated: IteratorSource[?] => iterated.kind
    case other => other.getClass
