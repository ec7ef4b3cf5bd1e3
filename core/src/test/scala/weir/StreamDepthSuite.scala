package weir

import scala.concurrent.duration.*

/** Streams that are deep, or refer to themselves. PAINS row 14. `-Dweir.stress.operations=10000000`
  * sets the number of elements of the second kind.
  */
class StreamDepthSuite extends StreamTests:
  private val elements =
    java.lang.Integer.getInteger("weir.stress.operations", Tier(150_000, 1_000_000)).intValue

  override def limit: FiniteDuration = if elements > 1_000_000 then 1.hour else 60.seconds

  private def concat(n: Int): Stream[Int] = Stream.emit(n) ++ concat(n + 1)
  private def flat(n: Int): Stream[Int] =
    Stream.eval(Task(n)).flatMap(x => Stream.emit(x) ++ flat(x + 1))
  private def mapped(n: Int): Stream[Int] = Stream.emit(n) ++ mapped(n + 1).map(_ + 0)
  private def handled(n: Int): Stream[Int] =
    (Stream.emit(n) ++ Stream.fail(Boom()))
      .handleErrorWith(_ => handled(n + 1))

  for (name, stream) <- List(
      ("emit(n) ++ go(n + 1)", concat(0)),
      ("eval(n).flatMap(x => emit(x) ++ go(x + 1))", flat(0))
    )
  do
    test(s"row 14: go(n) = $name runs to a million in constant stack and constant heap"):
      var early, late = 0L
      val count = stream
        .map { i =>
          if i == elements / 10 then early = Heap.used()
          else if i == elements then late = Heap.used()
        }
        .take(elements + 1L)
        .count
      assertEquals(count.runSync(), elements + 1L)
      assert(
        late - early < 4 * megabyte,
        s"grew by ${late - early} bytes over nine tenths of $elements"
      )

    test(s"go(n) = $name runs through parallel stages"):
      val n = Tier(30_000, 100_000)
      assertEquals(stream.prefetchN(16).take(n).count.runSync(), n.toLong)
      assertEquals(stream.prefetchStrict.take(n).count.runSync(), n.toLong)
      assertEquals(stream.parEvalMap(2)(Task.pure).take(n).count.runSync(), n.toLong)

  test("recursion that is not at the end goes a thousand deep"):
    assertEquals(mapped(0).take(1000).count.runSync(), 1000L)

  test("a stream that starts anew after each error does so ten thousand times, in constant stack"):
    assertEquals(handled(0).take(10_000).count.runSync(), 10_000L)

  for n <- List(1_000, 100_000) do
    test(s"++ nested to the left $n deep keeps its order, at the same cost for each"):
      val stream = (1 to n).foldLeft[Stream[Int]](Stream.empty)((s, i) => s ++ Stream.emit(i))
      assertEquals(stream.fold(0)((last, i) => if i == last + 1 then i else -1).runSync(), n)

  test("a thousand stages of each kind"):
    def deep(stage: Stream[Int] => Stream[Int]) =
      Iterator.iterate[Stream[Int]](Stream.emits(1 to 10))(stage).drop(1000).next()
    for stage <- List[Stream[Int] => Stream[Int]](
        _.map(_ + 0),
        _.filter(_ => true),
        _.take(100),
        _.evalMap(Task.pure),
        _.flatMap(Stream.emit),
        _.onFinalize(Task.unit),
        _.handleErrorWith(_ => Stream.empty)
      )
    do assertEquals(deep(stage).toList.runSync(), (1 to 10).toList)

  test("a hundred stages that each run on a fiber of their own"):
    def deep(stage: Stream[Int] => Stream[Int]) =
      Iterator.iterate[Stream[Int]](Stream.emits(1 to 10))(stage).drop(100).next()
    for stage <- List[Stream[Int] => Stream[Int]](_.prefetchN(1), _.parEvalMap(2, 1)(Task.pure)) do
      assertEquals(deep(stage).toList.runSync(), (1 to 10).toList)

  test("millions of elements leave nothing behind"):
    val many = Tier(500_000, 2_500_000)
    val stream = Stream.unfold(0)(i => Option.when(i < many)((i, i + 1)))
    val pipe = stream.map(_ + 1).filter(_ % 2 == 0).chunkN(100).flatMap(Stream.fromIterable)
    val grown = growth(for _ <- 1 to 2 do assertEquals(pipe.count.runSync(), many / 2L))
    assert(grown < megabyte, s"grew by $grown bytes")
