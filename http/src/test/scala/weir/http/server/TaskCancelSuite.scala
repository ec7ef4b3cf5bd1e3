package weir.http.server

import java.util.concurrent.atomic.AtomicInteger
import weir.WeirSuite
import weir.http.server.Exchange.Reason

class TaskCancelSuite extends WeirSuite:
  /** A cancel, and the number of its calls of the function that cancels. */
  private def started(): (TaskCancel, AtomicInteger) =
    val (cancel, calls) = (TaskCancel(), AtomicInteger())
    cancel(() => calls.incrementAndGet(): Unit)
    (cancel, calls)

  test("a task whose handler was cancelled as it returned begins no response"):
    val (cancel, calls) = started()
    cancel.stopHandler(Reason.HandlerLate)
    assertEquals(cancel.mayAnswer(), false)
    assertEquals((cancel.reason, calls.get), (Reason.HandlerLate, 1))

  test("a handler that has returned is not cancelled, its response may be"):
    val (cancel, calls) = started()
    assertEquals(cancel.mayAnswer(), true)
    cancel.stopHandler(Reason.HandlerLate)
    assertEquals((cancel.reason, calls.get), (null, 0))
    cancel.stop(Reason.ClientGone)
    assertEquals((cancel.reason, calls.get), (Reason.ClientGone, 1))
    assertEquals(cancel.mayAnswer(), false)

  test("the first reason stays"):
    val (cancel, calls) = started()
    cancel.stop(Reason.Drained)
    cancel.stopHandler(Reason.HandlerLate)
    assertEquals((cancel.reason, calls.get), (Reason.Drained, 1))

  test("a reason that comes before the task has started cancels it then"):
    val (cancel, calls) = (TaskCancel(), AtomicInteger())
    cancel.stop(Reason.ClientGone)
    cancel(() => calls.incrementAndGet(): Unit)
    assertEquals((cancel.reason, calls.get), (Reason.ClientGone, 1))

  test("what goes on when the task has ended is cut by a later reason, and by an earlier one"):
    for isBefore <- List(false, true) do
      val (cancel, calls) = started()
      val cuts = AtomicInteger()
      if isBefore then cancel.stop(Reason.Drained)
      cancel.goesOn(() => cuts.incrementAndGet(): Unit)
      if !isBefore then cancel.stop(Reason.Drained)
      assertEquals((calls.get, cuts.get), (if isBefore then 1 else 0, 1))

  test("a task that has ended before its function came leaves what goes on"):
    val (cancel, calls) = (TaskCancel(), AtomicInteger())
    cancel.goesOn(() => calls.incrementAndGet(): Unit)
    cancel(() => fail("the task has ended"))
    cancel.stop(Reason.Drained)
    assertEquals(calls.get, 1)
