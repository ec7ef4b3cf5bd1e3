package weir.testkit

import weir.fiber.{FiberCore, TaskFiber}

/** Describes the state of each fiber of a test that fails. */
private[testkit] object Report:

  def of(fibers: List[(Int, FiberCore)], test: FiberCore | Null): String =
    val numbers = fibers.map((n, fiber) => (fiber, n)).toMap
    fibers.take(most).map(line(_, _, test, numbers)).mkString("\n") +
      (if fibers.size > most then s"\n  and ${fibers.size - most} more" else "")

  private inline val most = 50

  private def line(
      number: Int,
      fiber: FiberCore,
      test: FiberCore | Null,
      numbers: Map[FiberCore, Int]
  ): String =
    val name = if fiber eq test then s"fiber $number (the test)" else s"fiber $number"
    val thread = fiber.runningOn
    val place = if thread eq null then Nil else Rest.place(thread)
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
