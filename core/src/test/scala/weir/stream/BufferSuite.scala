package weir
package stream

import java.lang.ref.WeakReference
import weir.fiber.{DirectCode, FiberCore}

/** The fibers that continue when room is given back. Elements are their own sizes. */
class BufferSuite extends CollectedTests, StreamTests:

  private def sized(limit: Long): Buffer = Buffer(limit, element => element.asInstanceOf[Int])

  private def put(buffer: Buffer, element: Int): Task[Unit] = DirectCode(buffer.put(element, _))
  private def take(buffer: Buffer): Task[Any] = DirectCode(buffer.take(_))

  private def waits(fiber: Fiber[Any]): Boolean = fiber match
    case core: FiberCore => core.suspendedIn ne null

  /** A fiber that waits to put `element`. */
  private def putting(buffer: Buffer, element: Int): Fiber[Unit] =
    val fiber = put(buffer, element).start.runSync()
    eventually(s"$element waits for room")(waits(fiber))
    fiber

  test("room for several lets all of them go on, though nothing more is taken"):
    val buffer = sized(9)
    for element <- List(6, 3) do put(buffer, element).runSync()
    val producers = List(2, 2, 2).map(putting(buffer, _))
    assertEquals(take(buffer).runSync(), 6)
    eventually("all three have put")(producers.forall(ended))
    assertEquals(List.fill(4)(take(buffer).runSync()), List[Any](3, 2, 2, 2))

  test("those for whom there is no room stay, in line, and a smaller one does not overtake them"):
    val buffer = sized(8)
    for element <- List(3, 5) do put(buffer, element).runSync()
    val first = putting(buffer, 2)
    val second = putting(buffer, 4)
    val third = putting(buffer, 1)
    assertEquals(take(buffer).runSync(), 3)
    eventually("the first has put")(ended(first))
    assert(waits(second) && waits(third))
    assertEquals(List.fill(2)(take(buffer).runSync()), List[Any](5, 2))
    eventually("the others have put")(ended(second) && ended(third))
    // Both had room, so either may have been faster.
    assertEquals(Set.fill(2)(take(buffer).runSync()), Set[Any](4, 1))

  test("one that is larger than the buffer goes in alone"):
    val buffer = sized(8)
    put(buffer, 20).runSync()
    val second = putting(buffer, 30)
    val third = putting(buffer, 1)
    assertEquals(take(buffer).runSync(), 20)
    eventually("the second has put")(ended(second))
    assert(waits(third))
    assertEquals(take(buffer).runSync(), 30)
    eventually("the third has put")(ended(third))
    assertEquals(take(buffer).runSync(), 1)

  test("a producer that is cancelled takes no room from those behind it"):
    val buffer = sized(8)
    for element <- List(4, 4) do put(buffer, element).runSync()
    val first = putting(buffer, 3)
    val second = putting(buffer, 4)
    first.cancel.runSync()
    assertEquals(take(buffer).runSync(), 4)
    eventually("the second has put")(ended(second))
    assertEquals(List.fill(2)(take(buffer).runSync()), List[Any](4, 4))

  test("a producer that is cancelled, and has not left the line yet, takes no room either"):
    val buffer = sized(8)
    for element <- List(4, 4) do put(buffer, element).runSync()
    val first = putting(buffer, 3)
    val second = putting(buffer, 4)
    val cancelAndTake = DirectCode { fiber =>
      buffer.synchronized { // no waiter can leave the line without it
        first match { case core: FiberCore => core.requestCancel() }
        buffer.take(fiber)
      }
    }
    assertEquals(cancelAndTake.runSync(), 4)
    eventually("the second has put")(ended(second))
    assertEquals(List.fill(2)(take(buffer).runSync()), List[Any](4, 4))

  test("a consumer that has nothing left has given all room back, once"):
    val buffer = sized(100)
    put(buffer, 10).runSync()
    assertEquals(take(buffer).runSync(), 10)
    for round <- 1 to 3 do
      for element <- List(40, 60) do put(buffer, element).runSync()
      val producer = putting(buffer, 1)
      assertEquals(List.fill(3)(take(buffer).runSync()), List[Any](40, 60, 1), s"round $round")
      eventually("it has put")(ended(producer))

  test("an element that was taken is not kept, though others of its batch are to be taken yet"):
    val buffer = Buffer(10, null)
    val value: AnyRef => Unit = value => DirectCode(buffer.put(value, _)).runSync()
    def taken() =
      for _ <- 1 to 3 do value(new Object)
      WeakReference(take(buffer).runSync().asInstanceOf[AnyRef])
    assertCollected("what was taken")(taken())
    assertEquals(buffer.untaken.size, 2)

  test("an element of no size takes 1"):
    val buffer = sized(2)
    for _ <- 1 to 2 do put(buffer, 0).runSync()
    val third = putting(buffer, 0)
    assertEquals(take(buffer).runSync(), 0)
    eventually("it has put")(ended(third))
