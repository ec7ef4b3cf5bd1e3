package weir.kafka.consumer

class InboxSuite extends munit.FunSuite:
  private val inbox = FunFixture[Inbox[(Int, Int)]](_ => Inbox(_._1), _ => ())

  private def takeAll(from: Inbox[(Int, Int)]): List[(Int, Int)] =
    Iterator.continually(from.take()).takeWhile(_ != null).map(_.nn).toList

  inbox.test("each lane in its order, lanes in turns"): inbox =>
    for lane <- 1 to 3; n <- 1 to lane do inbox.offer((lane, n))
    inbox.end()
    assertEquals(takeAll(inbox), List((1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (3, 3)))
    assertEquals(inbox.take(), null)

  inbox.test("a lane that comes back has its turn after the others"): inbox =>
    inbox.offer((1, 1))
    inbox.offer((2, 1))
    assertEquals(inbox.take(), (1, 1))
    inbox.offer((1, 2))
    inbox.end()
    assertEquals(takeAll(inbox), List((2, 1), (1, 2)))

  inbox.test("an error comes after the elements, and again and again; the first end counts"):
    inbox =>
      val error = RuntimeException("first")
      inbox.offer((1, 1))
      inbox.fail(error)
      inbox.end()
      assertEquals(inbox.take(), (1, 1))
      for _ <- 1 to 2 do assertEquals(intercept[RuntimeException](inbox.take()), error)

  inbox.test("who waits gets what is offered, and an interrupt ends a wait"): inbox =>
    val taken = java.util.concurrent.LinkedBlockingQueue[Any]()
    val reader = Thread
      .ofVirtual()
      .start: () =>
        try while true do taken.add(inbox.take()): Unit
        catch case _: InterruptedException => taken.add("interrupted"): Unit
    for n <- 1 to 1000 do inbox.offer((n % 7, n))
    val all = List.fill(1000)(taken.take())
    assertEquals(all.toSet, (1 to 1000).map(n => (n % 7, n)).toSet[Any])
    reader.interrupt()
    assertEquals(taken.take(), "interrupted": Any)
