package weir.fiber

import scala.collection.mutable.ListBuffer
import weir.WeirSuite

class WaitListSuite extends WeirSuite:

  test("it behaves as a queue from which any entry may be removed, once"):
    val random = scala.util.Random(23)
    val list = WaitList()
    val model = ListBuffer[WaitList.Entry]()
    val gone = ListBuffer[WaitList.Entry]()
    def entry() = WaitList.Entry(null.asInstanceOf[TaskFiber], list, list)
    for _ <- 1 to 50_000 do
      random.nextInt(5) match
        case 0 | 1 =>
          val added = entry()
          list.add(added)
          model += added
        case 2 =>
          val polled = list.poll()
          assert(polled eq model.headOption.orNull)
          if model.nonEmpty then gone += model.remove(0)
        case 3 if model.nonEmpty =>
          val left = model.remove(random.nextInt(model.size))
          if random.nextBoolean() then list.remove(left) else left.abandon()
          gone += left
        case _ =>
          // To remove an entry that is gone already changes nothing.
          if gone.nonEmpty then gone(random.nextInt(gone.size.min(50))).abandon()
          list.remove(entry())
      assertEquals(list.size, model.size)
      assertEquals(list.isEmpty, model.isEmpty)
    while model.nonEmpty do assert(list.poll() eq model.remove(0))
    assert(list.poll() == null)
