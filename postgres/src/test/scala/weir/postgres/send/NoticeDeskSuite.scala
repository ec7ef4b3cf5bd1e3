package weir.postgres.send

import org.postgresql.util.ServerErrorMessage
import scala.collection.mutable
import weir.WeirSuite

class NoticeDeskSuite extends munit.FunSuite, WeirSuite:
  private def said(text: String) = ServerErrorMessage(s"SWARNING\u0000C01000\u0000M$text\u0000")

  test("a notice is told at once while the session's thread reads, else when it is asked for"):
    val told = mutable.ListBuffer.empty[String]
    val desk = NoticeDesk(told += _.message)
    desk.receive(said("a"))
    assertEquals(told.toList, Nil)
    desk.isLive = true
    desk.receive(said("b"))
    assertEquals(told.toList, List("b"))
    desk.isLive = false
    desk.tellWaiting()
    assertEquals(told.toList, List("b", "a"))

  test("of those that wait only so many are kept, and the number of the others is told"):
    val told = mutable.ListBuffer.empty[String]
    val desk = NoticeDesk(told += _.message)
    for i <- 1 to NoticeDesk.Kept + 7 do desk.receive(said(s"$i"))
    desk.tellWaiting()
    assertEquals(told.size, NoticeDesk.Kept + 1)
    assertEquals(told.last, "7 more, which are not shown")
    desk.tellWaiting()
    assertEquals(told.size, NoticeDesk.Kept + 1)

  test(
    "what the user's code throws never goes through who reads, and fails what asks for it, once"
  ):
    for isLive <- List(true, false) do
      var told = 0
      val first = Boom()
      val desk = NoticeDesk { _ =>
        told += 1
        throw if told == 1 then first else Boom()
      }
      desk.isLive = isLive
      for i <- 1 to 3 do desk.receive(said(s"$i")) // in the middle of a message: it must return
      assert(intercept[Boom](desk.tellWaiting()) eq first)
      assertEquals(told, 3, "the others are told all the same")
      desk.tellWaiting()
