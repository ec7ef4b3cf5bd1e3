package weir.lab.gather

/** The code of one system for each [[Form]]. The JMH suite and `weir gather` call the same code.
  *
  * The tasks are made beforehand, each is a thunk that returns 1, and a run hands over the list of
  * results that the system makes. The work of each system is equal in this sense:
  *
  *   - **ready**: the thunk runs at once, wherever the task is run. In Future, Ox and bare virtual
  *     threads whatever is gathered is started first, so there it is the same work as forked.
  *   - **forked**: one trip through the system's scheduler, then the thunk. Where tasks are values
  *     that is the boundary which its documentation has for it, in front of the thunk: Monix
  *     `evalAsync`, Scalaz `Task.apply`, Cats Effect 3 `IO.cede` (which took the place of Cats
  *     Effect 2's `IO.shift`), ZIO `ZIO.yieldNow`, Weir `Task.cede`. Where they are not, starting
  *     it is the trip: `Future.apply`, Ox `fork`, a new virtual thread. One after the other on bare
  *     virtual threads is one thread that yields before each thunk, which is cheaper than a thread
  *     each.
  *   - **sequence**: in order, each begun once the one before has ended.
  *   - **gather**: concurrently, without a limit, the results in the order of the tasks.
  *   - **unordered**: concurrently, the results in the order in which they come.
  */
trait TaskSystem:
  def name: String

  /** Returns a function that runs `size` tasks and returns their results or their sum; none if the
    * system has no such form.
    */
  def run(form: Form, size: Int): Option[() => TaskSystem.Returned]

object TaskSystem:
  type Returned = Iterable[Int] | Long

  /** Returns the sum of `returned`, or `returned` itself if it is the sum. */
  def total(returned: Returned): Long = returned match
    case sum: Long => sum
    case values: Iterable[Int] =>
      var sum = 0L
      val each = values.iterator
      while each.hasNext do sum += each.next()
      sum
