package weir.postgres.protocol

import org.postgresql.util.ServerErrorMessage
import scala.collection.mutable
import weir.WeirSuite

class NoticeDispatcherSuite extends munit.FunSuite, WeirSuite:
  private def said(text: String) = ServerErrorMessage(s"SWARNING\u0000C01000\u0000M$text\u0000")

  test("a notice is told at once while the session's thread reads, else when it is asked for"):
    val told = mutable.ListBuffer.empty[String]
    val dispatcher = NoticeDispatcher(told += _.message)
    dispatcher.receive(said("a"))
    assertEquals(told.toList, Nil)
    dispatcher.isLive = true
    dispatcher.receive(said("b"))
    assertEquals(told.toList, List("b"))
    dispatcher.isLive = false
    dispatcher.tellWaiting()
    assertEquals(told.toList, List("b", "a"))

  test("of those that wait only so many are kept, and the number of the others is told"):
    val told = mutable.ListBuffer.empty[String]
    val dispatcher = NoticeDispatcher(told += _.message)
    for i <- 1 to NoticeDispatcher.Kept + 7 do dispatcher.receive(said(s"$i"))
    dispatcher.tellWaiting()
    assertEquals(told.size, NoticeDispatcher.Kept + 1)
    assertEquals(told.last, "7 more, which are not shown")
    dispatcher.tellWaiting()
    assertEquals(told.size, NoticeDispatcher.Kept + 1)

  test(
    "what the user's code throws never goes through who reads, and fails what asks for it, once"
  ):
    for isLive <- List(true, false) do
      var told = 0
      val first = Boom()
      val dispatcher = NoticeDispatcher { _ =>
        told += 1
        throw if told == 1 then first else Boom()
      }
      dispatcher.isLive = isLive
      // In the middle of a message: it must return.
      for i <- 1 to 3 do dispatcher.receive(said(s"$i"))
      assert(intercept[Boom](dispatcher.tellWaiting()) eq first)
      assertEquals(told, 3, "the others are told all the same")
      dispatcher.tellWaiting()
