package weir.task

import scala.collection.BuildFrom
import weir.Task

/** Builds results into a collection of the same kind as the items. */
private[weir] object Built:

  /** Returns the values of `results`, built as `items` is. If that is a list, returns the results
    * unchanged.
    */
  def apply[From <: Iterable[Any], B, That](items: From, results: Task[List[B]])(using
      build: BuildFrom[From, B, That]
  ): Task[That] =
    if items.isInstanceOf[List[?]] then results.asInstanceOf[Task[That]]
    else results.map(build.fromSpecific(items))
