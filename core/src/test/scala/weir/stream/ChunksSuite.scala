package weir
package stream

/** `chunks` and `toPull`, by which another library takes elements. */
class ChunksSuite extends StreamTests:

  test("a collection comes in groups of the limit, and no group is empty"):
    for n <- List(0, 1, 7, 8, 9, 1000); limit <- List(1, 2, 8) do
      val chunks = Stream.emits(1 to n).toVector.map(Stream.emits).flatMap(_.chunks(limit).toList)
      assertEquals(chunks.runSync(), (1 to n).toVector.grouped(limit).toList, s"$n by $limit")

  test("an element does not wait for those after it, nor does code run for more"):
    val ran = java.util.concurrent.atomic.AtomicInteger()
    val effects = Stream.emits(1 to 10).evalMap(n => Task(ran.incrementAndGet()).as(n))
    assertEquals(effects.chunks().take(2).toList.runSync(), List(Vector(1), Vector(2)))
    assertEquals(ran.get, 2)
    val waits = Stream(1, 2) ++ Stream.never
    assertEquals(waits.chunks().take(1).toList.runSync(), List(Vector(1, 2)))

  test("what came from another fiber together stays together"):
    val chunks = Stream.emits(1 to 500).prefetchN(64).chunks().toList.runSync()
    assertEquals(chunks.flatten, (1 to 500).toList)
    assert(chunks.size < 100, chunks.map(_.size))

  test("an error keeps its place, and the limit is checked"):
    val boom = Boom()
    val failing = Stream(1, 2, 3) ++ Stream.fail(boom)
    assertEquals(
      failing.chunks(2).attempt.toList.runSync().map(_.map(_.toList)),
      List(
        Right(List(1, 2)),
        Right(List(3)),
        Left(boom)
      )
    )
    assertEquals(
      intercept[IllegalArgumentException](Stream(1).chunks(0)).getMessage,
      "requirement failed: Stream.chunks: the limit was 0. It must be at least 1."
    )

  test("a limit that no array could have: the groups are what is there"):
    val items = (1 to 1000).toList
    for stream <- List(Stream.emits(items), Stream.emits(items).broadcastThrough(identity)) do
      assertEquals(stream.chunks(Int.MaxValue).mapConcat(identity).toList.runSync(), items)
    assertEquals(Stream.emits(items).chunks(Int.MaxValue).map(_.size).toList.runSync(), List(1000))

  test("toPull takes one element each time, then none again and again"):
    val taken = Stream(1, 2).toPull.use(next => Task.sequence(List.fill(4)(next)))
    assertEquals(taken.runSync(), List(Some(1), Some(2), None, None))

  test("toPull fails as the stream does, again each time"):
    val boom = Boom()
    val taken = Stream.fail(boom).toPull.use(next => Task.sequence(List.fill(2)(next.attempt)))
    assertEquals(taken.runSync(), List(Left(boom), Left(boom)))
