package weir.task

import weir.Task

/** Runs a tuple of tasks as a list, and returns the values as a tuple. */
private[weir] object Zip:

  def list(tasks: NonEmptyTuple): List[Task[Any]] =
    tasks.productIterator.asInstanceOf[Iterator[Task[Any]]].toList

  /** Returns the list's values as a tuple, of the type that the caller knows. */
  def apply[T](values: Task[List[Any]]): Task[T] =
    values.map(list => Tuple.fromArray(list.toArray[Any]).asInstanceOf[T])
