package weir.task

import scala.collection.BuildFrom
import weir.Task

/** Results in a collection of the same kind as the items. */
private[weir] object Built:

  /** The values of `results`, built as `items` is. Where that is a list, the results are what is
    * asked for already.
    */
  def apply[From <: Iterable[Any], B, That](items: From, results: Task[List[B]])(using
      build: BuildFrom[From, B, That]
  ): Task[That] =
    if items.isInstanceOf[List[?]] then results.asInstanceOf[Task[That]]
    else results.map(build.fromSpecific(items))
