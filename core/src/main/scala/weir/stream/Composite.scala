package weir.stream

import weir.{Outcome, Stream, Task}

/** A stream made of others that run one after the other. */
private[weir] sealed abstract class Composite[+A] extends Stream[A]:
  private[weir] def open(): Pull = CompositePull(this)

/** The elements of a collection, which a `CompositePull` reads without a pull for it. */
private[weir] final class Iterated[+A](items: Iterable[A]) extends Stream[A]:
  private[weir] def open(): Pull = IteratorSource(() => items.iterator, isStrict, items.getClass)
  private[stream] def iterator: Iterator[A] = items.iterator
  private[stream] def isStrict: Boolean = IteratorSource.isStrict(items)

/** The elements of `first`, then those of `second`. */
private[weir] final class Concat[+A](val first: Stream[A], val second: () => Stream[A])
    extends Composite[A]

/** The elements of the streams that `f` returns for those of `source`. */
private[weir] final class FlatMapped[A, +B](val source: Stream[A], val f: A => Stream[B])
    extends Composite[B]

/** The elements of `source`. If that fails, they are followed by those of the stream that `f`
  * returns for the error.
  */
private[weir] final class Handled[+A](val source: Stream[A], val f: Throwable => Stream[A])
    extends Composite[A]

/** The elements of `source`. At its end, the task runs that `finalizer` returns for the outcome. */
private[weir] final class Finalized[+A](
    val source: Stream[A],
    val finalizer: Outcome[Unit] => Task[Unit]
) extends Composite[A]
