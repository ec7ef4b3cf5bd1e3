package weir.testkit

import weir.fiber.{FiberCore, TaskFiber}

/** Describes the state of each fiber of a test that fails. */
private[testkit] object Report:

  /** Returns a line for each fiber. With `places`, lines of the user's code follow at which it
    * waits: a story shows them by itself.
    */
  def of(
      fibers: List[(Int, FiberCore)],
      test: FiberCore | Null,
      places: Boolean = true
  ): String =
    val numbers = fibers.map((n, fiber) => (fiber, n)).toMap
    fibers.take(most).map(line(_, _, test, numbers, places)).mkString("\n") +
      (if fibers.size > most then s"\n  and ${fibers.size - most} more" else "")

  private inline val most = 50

  private def line(
      number: Int,
      fiber: FiberCore,
      test: FiberCore | Null,
      numbers: Map[FiberCore, Int],
      places: Boolean
  ): String =
    val name = if fiber eq test then s"fiber $number (the test)" else s"fiber $number"
    val thread = fiber.runningOn
    val place =
      if thread ne null then Rest.place(thread)
      else
        fiber match
          case task: TaskFiber if places && (task.suspendedIn ne null) =>
            Place.ofWait(task).map(at => s"at $at")
          case _ => Nil
    (s"  $name ${state(fiber, thread, numbers)}" :: place.map("      " + _)).mkString("\n")

  private def state(fiber: FiberCore, thread: Thread | Null, numbers: Map[FiberCore, Int]): String =
    fiber.suspendedIn match
      case null if thread eq null => "is queued"
      case null => s"runs, and its thread is ${thread.getState}"
      case wait =>
        wait.awaited match
          case null => s"waits (${wait.getClass.getSimpleName})"
          case awaited =>
            s"waits for ${awaited.awaitedAs}${holders(awaited.holders.toList, numbers)}"

  private def holders(holders: List[TaskFiber], numbers: Map[FiberCore, Int]): String =
    if holders.isEmpty then ""
    else
      holders
        .map(fiber => s"fiber ${numbers.getOrElse(fiber, "?")}")
        .mkString(", held by ", ", ", "")
