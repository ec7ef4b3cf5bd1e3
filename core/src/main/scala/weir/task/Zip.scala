package weir.task

import weir.Task

/** The values of a tuple of tasks, which a list of the same tasks has returned. */
private[weir] object Zip:

  def list(tasks: NonEmptyTuple): List[Task[Any]] =
    tasks.productIterator.asInstanceOf[Iterator[Task[Any]]].toList

  /** The list's values as a tuple, of the type that the caller knows. */
  def apply[T](values: Task[List[Any]]): Task[T] =
    values.map(list => Tuple.fromArray(list.toArray[Any]).asInstanceOf[T])
