package weir.testkit

import weir.testkit.explore.{Run, Schedule, StoryPage, Told}

/** The error of an explored program, with an order in which it fails. The message shows the error,
  * and the order as a story; the cause is the error itself.
  *
  * @param schedule the order as a short text: the option `-Dweir.test.schedule=` runs that order
  *   alone
  * @param story the steps of the order as a table, with a column for each fiber
  * @param preemptions the number of pre-emptions of the order
  */
final class ExploreFailure private (
    message: String,
    val schedule: String,
    val story: String,
    val preemptions: Int,
    told: Told,
    cause: Throwable
) extends AssertionError(message, cause):

  /** Returns the same failure, with the place of the test, and the name of the file that the story
    * is in.
    */
  private[testkit] def at(place: String): ExploreFailure =
    val page = StoryPage.write(place, told, schedule).fold("")(file => s"\nAs a page: $file")
    val moved =
      new ExploreFailure(place + message + page, schedule, story, preemptions, told, cause)
    moved.setStackTrace(getStackTrace)
    moved

object ExploreFailure:
  private[testkit] def of(run: Run, told: Told): ExploreFailure =
    val error = run.failure.nn
    val schedule = Schedule.text(run.choices)
    val what = run.preemptions match
      case 0 => "without pre-emptions"
      case 1 => "with 1 pre-emption"
      case n => s"with $n pre-emptions"
    new ExploreFailure(
      s"The program fails in an order $what: ${told.error}\n\n${told.text}\n" +
        s"-Dweir.test.schedule=$schedule runs that order alone.",
      schedule,
      told.text,
      run.preemptions,
      told,
      error
    )
