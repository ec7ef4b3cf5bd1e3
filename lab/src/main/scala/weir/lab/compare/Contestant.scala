package weir.lab.compare

/** A library, or several that belong together, with a program for each way. */
trait Contestant:
  /** Returns the name of the library that a way uses. */
  def system(way: Way): String

  /** True for a way that may hang here, and would keep its threads. */
  def mayHang(way: Way): Boolean

  /** Produces and consumes all tasks of `plan` that way, and reports each to `course`.
    *
    * **Waits** until all are consumed; for ever, if the way hangs.
    */
  def run(way: Way, plan: Plan, course: Course): Unit
