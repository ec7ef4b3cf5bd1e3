package weir.testkit.bugs

import java.util.concurrent.locks.Lock
import weir.Task

/** A small program that is wrong in some of its orders, after a public report, and its corrected
  * twin.
  *
  * @param report where the bug was reported. The program is our own, of the same shape.
  * @param wrong fails in some order: with an assertion, stuck, or with a fiber left; not in the
  * order in which each fiber runs until it waits or ends
  * @param right ends well in every order
  * @param threads both as plain code, if they are nothing else: for tools that know threads only
  */
final case class KnownBug(
    name: String,
    report: String,
    wrong: Task[Unit],
    right: Task[Unit],
    threads: Option[KnownBug.Twins]
)

object KnownBug:
  /** Code of several threads. Made anew for each run. */
  trait Program:
    /** Returns the code of each thread. */
    def threads: List[() => Unit]

    /** Fails unless all is well once the threads have ended. */
    def after(): Unit

  final case class Twins(wrong: () => Program, right: () => Program)

  /** A bug in tasks. `program` makes the right one for `true`. */
  def ofTasks(name: String, report: String)(program: Boolean => Task[Unit]): KnownBug =
    KnownBug(name, report, program(false), program(true), None)

  /** A bug in plain code on threads. `program` makes the right one for `true`. */
  def ofThreads(name: String, report: String)(program: Boolean => Program): KnownBug =
    val twins = Twins(() => program(false), () => program(true))
    KnownBug(name, report, onFibers(twins.wrong), onFibers(twins.right), Some(twins))

  private def onFibers(program: () => Program): Task[Unit] = Task.defer {
    val made = program()
    together(made.threads.map(body => Task(body()))*).andThen(Task(made.after()))
  }

  /** Runs each of `tasks` in a fiber of its own. Fails as the first that has failed, once all have
    * ended.
    */
  def together(tasks: Task[Any]*): Task[Unit] =
    for
      fibers <- Task.traverse(tasks)(_.start)
      outcomes <- Task.traverse(fibers)(_.join)
    yield outcomes.foreach(_.get)

  /** Fails unless `seen` is `expected`. */
  def mustBe[A](what: String, seen: A, expected: A): Unit =
    if seen != expected then throw AssertionError(s"$what: it was $seen, and must be $expected.")

  extension (lock: Lock)
    /** Runs `body` with the lock held, and returns its result. */
    def locked[A](body: => A): A =
      lock.lockInterruptibly()
      try body
      finally lock.unlock()
