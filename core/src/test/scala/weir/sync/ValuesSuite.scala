package weir
package sync

import java.lang.ref.WeakReference
import scala.collection.mutable

class ValuesSuite extends CollectedTests, StreamTests:

  for capacity <- List(1, 2, 15, 16, 17, 5000, Int.MaxValue) do
    test(s"it behaves as a queue of at most $capacity"):
      val random = scala.util.Random(capacity)
      val values = Values(capacity)
      val model = mutable.Queue[Int]()
      // In waves, so that the array grows with its head at any index, and gets empty again.
      for wave <- 1 to 60 do
        for i <- 0 until random.nextInt(200) * (wave % 20 + 1) do
          if random.nextInt(10) < 7 && model.size < capacity then
            values.append(i)
            model += i
          else if model.nonEmpty then assertEquals(values.removeOldest(), model.dequeue())
          assertEquals((values.size, values.isEmpty), (model.size, model.isEmpty))
          assertEquals(values.isFull, model.size == capacity)
        if wave % 2 == 0 then
          while model.nonEmpty do assertEquals(values.removeOldest(), model.dequeue())

  test("the array of many values is given back once they are gone"):
    val values = Values(Int.MaxValue)
    val grown = growth {
      for _ <- 1 to 1_000_000 do values.append(this)
      for _ <- 1 to 1_000_000 do values.removeOldest(): Unit
    }
    val before = Heap.used()
    for _ <- 1 to 1_000_000 do values.append(this)
    val full = Heap.used() - before
    assert(full > megabyte, s"$full bytes for a million values")
    for _ <- 1 to 1_000_000 do values.removeOldest(): Unit
    val left = Heap.used() - before
    assert(grown < megabyte && left < megabyte, s"$grown and $left bytes are left")

  test("a value that is removed is not kept, though others are"):
    val values = Values(10)
    def removed() =
      values.append(new Object)
      values.append(new Object)
      WeakReference(values.removeOldest().asInstanceOf[AnyRef])
    assertCollected("what was removed")(removed())
    assertEquals(values.size, 1)
