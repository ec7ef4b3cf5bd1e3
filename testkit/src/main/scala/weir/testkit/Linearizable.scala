package weir.testkit

import java.util.SplittableRandom
import scala.concurrent.duration.{Duration, DurationInt, DurationLong, FiniteDuration}
import weir.Task
import weir.testkit.explore.History

/** Checks that the operations of an object which fibers share are linearizable: they behave as if
  * they came one after the other, each at one moment between its begin and its end.
  *
  * Random programs of a few operations in two or three fibers are explored, and the results of each
  * order are compared with those of a model. There must be a sequence of the operations in which
  * the model gives the same results (Herlihy and Wing 1990). The search is that of Wing and Gong
  * 1993, with the set of states that it has seen, as in Lowe 2017.
  */
object Linearizable:

  /** The error of a history that no order of its operations explains. The message shows it. */
  final class Violation private[testkit] (message: String) extends AssertionError(message)

  /** The amount that was checked. */
  final case class Report(programs: Int, orders: Long, took: FiniteDuration)

  /** Checks random programs of `operations` for as long as `limits` allows, and returns how many.
    *
    * **Fails** with an `ExploreFailure` whose cause is a `Violation`, for a program that was made
    * as small as possible.
    * {{{
    * val spec = Spec(Queue.bounded[Int](1), Vector.empty[Int])
    * Linearizable.check(spec)(
    *   spec.operation("tryOffer 1")(_.tryOffer(1))(s =>
    *     if s.isEmpty then (Vector(1), true) else (s, false)
    *   ),
    *   spec.waiting("take")(_.take)(s => s.headOption.map(n => (s.tail, n)))
    * )
    * }}}
    */
  def check[A, S](spec: Spec[A, S], limits: ExploreLimits = ExploreLimits())(
      operations: Operation[A, S]*
  ): Report =
    require(operations.nonEmpty, "Linearizable.check: there were no operations. Give at least one.")
    val check = Check(spec, limits, operations.toVector)
    check.run()

  /** The operations of each fiber of a program. */
  private type Program[A, S] = Vector[Vector[Operation[A, S]]]

  private final class Check[A, S](
      spec: Spec[A, S],
      limits: ExploreLimits,
      operations: Vector[Operation[A, S]]
  ):
    private val random = SplittableRandom(limits.seed)
    private val start = System.nanoTime()
    private def took = (System.nanoTime() - start).nanos

    def run(): Report =
      var programs = 0
      var orders = 0L
      while programs == 0 || took < limits.time do
        val program = randomProgram()
        try
          val report = explore(program, limits.time / 8)
          orders += report.orders + report.randomOrders
          programs += 1
        catch case failure: ExploreFailure => throw smallest(program, failure)
      Report(programs, orders, took)

    private def explore(program: Program[A, S], most: FiniteDuration): ExploreReport =
      val left = (limits.time - took).max(100.millis).min(most)
      TestRuntime.explore(limits.copy(time = left))(task(program))

    /** Returns a random program: at first of two operations, later of up to six. */
    private def randomProgram(): Program[A, S] =
      val fibers = 2 + random.nextInt(2)
      Vector.fill(fibers)(
        Vector.fill(1 + random.nextInt(if fibers == 2 then 3 else 2))(
          operations(random.nextInt(operations.length))
        )
      )

    /** Runs `program` until each fiber has ended or waits; then the fibers are cancelled. */
    private def task(program: Program[A, S]): Task[Unit] = Task.defer {
      val history = History[S]()
      for
        shared <- spec.make
        fibers <- Task.traverse(program.zipWithIndex)((operations, fiber) =>
          Task.foreach(operations)(run(shared, _, fiber, history)).start
        )
        // The clock moves when nothing can run.
        _ <- Task.sleep(Check.longest)
        _ <- Task.delay(history.close())
        _ <- Task.foreach(fibers)(_.cancel)
        _ <- Task.delay(check(history))
      yield ()
    }

    private def run(
        shared: A,
        operation: Operation[A, S],
        fiber: Int,
        history: History[S]
    ): Task[Unit] =
      Task.delay(history.invoked(fiber, operation.name, operation.model)).flatMap { call =>
        operation.run(shared).attempt.flatMap(result => Task.delay(history.responded(call, result)))
      }

    private def check(history: History[S]): Unit =
      if !history.isLinearizable(spec.initial) then
        throw Violation(
          "The history is not linearizable: no order of its operations, one after the other, " +
            s"gives these results.\n${history.text}"
        )

    /** Returns the failure of the program that is left when no operation can be left out. */
    private def smallest(program: Program[A, S], failure: ExploreFailure): ExploreFailure =
      val fewer = for
        fiber <- program.indices.iterator
        index <- program(fiber).indices.iterator
        smaller = program.updated(fiber, program(fiber).patch(index, Nil, 1)).filter(_.nonEmpty)
        found <- failureOf(smaller)
      yield smallest(smaller, found)
      fewer.nextOption().getOrElse(failure)

    private def failureOf(program: Program[A, S]): Option[ExploreFailure] =
      try
        TestRuntime.explore(limits.copy(time = 1.second))(task(program)): Unit
        None
      catch case failure: ExploreFailure => Some(failure)

  private object Check:
    /** Longer than any sleep of an operation. */
    val longest: FiniteDuration = Duration(3650, "days")

/** The specification of a check: an object, which `make` makes anew for each order, and the first
  * state of a model of it.
  */
final case class Spec[A, S](make: Task[A], initial: S):

  /** Returns an operation that never waits. `model` returns the next state of the model, and the
    * result.
    */
  def operation[R](name: String)(run: A => Task[R])(model: S => (S, R)): Operation[A, S] =
    Operation(name, run, state => Some(model(state)))

  /** Returns an operation that waits in the states for which `model` returns `None`. */
  def waiting[R](name: String)(run: A => Task[R])(model: S => Option[(S, R)]): Operation[A, S] =
    Operation(name, run, model)

/** An operation of the object of a `Spec`, which makes it. */
final class Operation[A, S] private[testkit] (
    val name: String,
    private[testkit] val run: A => Task[Any],
    private[testkit] val model: S => Option[(S, Any)]
)
