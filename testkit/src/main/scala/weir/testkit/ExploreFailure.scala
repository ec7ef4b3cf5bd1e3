package weir.testkit

import weir.testkit.explore.{Run, Schedule}

/** An order in which an explored program fails. The message tells the error and the order as a
  * story; the cause is the error itself.
  *
  * @param schedule the order as a short text: the option `-Dweir.test.schedule=` with it runs that
  * order alone
  * @param story the steps of the order as a table, with a column for each fiber
  * @param preemptions how many pre-emptions the order has
  */
final class ExploreFailure private (
    message: String,
    val schedule: String,
    val story: String,
    val preemptions: Int,
    cause: Throwable
) extends AssertionError(message, cause):
  private[testkit] def at(place: String): ExploreFailure =
    val moved = new ExploreFailure(place + message, schedule, story, preemptions, cause)
    moved.setStackTrace(getStackTrace)
    moved

object ExploreFailure:
  private[testkit] def of(run: Run, story: String): ExploreFailure =
    val error = run.failure.nn
    val schedule = Schedule.text(run.choices)
    val what = run.preemptions match
      case 0 => "without pre-emptions"
      case 1 => "with 1 pre-emption"
      case n => s"with $n pre-emptions"
    new ExploreFailure(
      s"The program fails in an order $what: $error\n\n$story\n" +
        s"-Dweir.test.schedule=$schedule runs that order alone.",
      schedule,
      story,
      run.preemptions,
      error
    )
