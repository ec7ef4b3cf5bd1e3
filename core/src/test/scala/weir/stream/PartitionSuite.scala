package weir
package stream

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

class PartitionSuite extends munit.ScalaCheckSuite, StreamTests:

  property("the two sides of List.partition"):
    forAll(Gen.listOf(Gen.choose(0, 9))) { items =>
      val both = Stream.emits(items).partition(_ % 2 == 0).use((a, b) => a.toList.both(b.toList))
      assertEquals(both.runSync(), items.partition(_ % 2 == 0))
    }

  test("an error comes to both, after the elements before it"):
    val boom = Boom()
    val source = Stream.emits(1 to 4) ++ Stream.fail(boom)
    val both = source.partition(_ < 3).use((a, b) => seen(a).both(seen(b)))
    assertEquals(both.runSync(), (List(1, 2, boom), List(3, 4, boom)))
    val bad = Stream.emits(1 to 4).partition(i => if i == 2 then throw boom else true)
    assertEquals(bad.use((a, b) => seen(a).both(seen(b))).runSync(), (List(1, boom), List(boom)))

  test("a side that has ended early holds up the other no more"):
    val source = Stream.emits(1 to 1000)
    val both = source.partition(_ % 2 == 0).use((a, b) => a.take(1).toList.both(b.count))
    assertEquals(both.runSync(), (List(2), 500L))

  test("a side that is run again fails: it has not come to the end of the source"):
    val source = Stream.repeatEval(Task.cede.as(1))
    val twice = source.partition(_ => true).use((a, _) => a.take(2).drain >> a.drain.attempt)
    twice.runSync() match
      case Left(error: IllegalStateException) =>
        assert(error.getMessage.contains("is over"), error.getMessage)
      case other => fail(other.toString)

  test("the source ends with the resource, its finalizers once"):
    val log = Log()
    val source = log.resource("a")(Stream.repeatEval(Task.cede.as(1)))
    val got = source.partition(_ => true).use((a, _) => a.take(3).toList)
    assertEquals(got.runSync(), List(1, 1, 1))
    assertEquals(log.lines, List("+a", "-a"))

  test("cancelled while it waits for an element, with what the source held"):
    val log = Log()
    val begun = Deferred.unsafe[Unit]
    val source = log.resource("a")(Stream.eval(begun.complete(()).andThen(Task.never)))
    val fiber = source.partition(_ => true).use((a, _) => a.drain).start.runSync()
    begun.get.andThen(fiber.cancel).runSync()
    assertEquals(log.lines, List("+a", "-a"))
