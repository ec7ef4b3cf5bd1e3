package weir.orders

import scala.concurrent.duration.*
import weir.{Ref, Stream, Task}

/** Each concurrent stage of streams in every order: with three elements, with a failure, with a
  * downstream that takes one, with a cancel.
  */
class StreamOrdersSuite extends OrdersSuite:
  private val inStages = Seq(
    "Buffer",
    "ConsumerState",
    "Gather",
    "MapRunner",
    "OnRequest",
    "ParJoin",
    "ParEvalMap",
    "Prefetch"
  )
    .map("weir.stream." + _)
  private val boom = IllegalStateException("expected")

  /** @param isOrdered true if the elements keep their order */
  private final case class Stage(
      name: String,
      isOrdered: Boolean,
      through: Stream[Int] => Stream[Int]
  )

  private def ordered(name: String)(through: Stream[Int] => Stream[Int]) =
    Stage(name, isOrdered = true, through)

  private def unordered(name: String)(through: Stream[Int] => Stream[Int]) =
    Stage(name, isOrdered = false, through)

  private val stages = List(
    ordered("prefetchN(1)")(_.prefetchN(1)),
    ordered("prefetchN(2)")(_.prefetchN(2)),
    ordered("prefetchStrict")(_.prefetchStrict),
    ordered("parEvalMap(2, 1)")(_.parEvalMap(2, 1)(n => Task.cede.as(n))),
    unordered("parEvalMapUnordered(2, 1)")(_.parEvalMapUnordered(2, 1)(n => Task.cede.as(n))),
    unordered("parEvalMapBy(2, 1)")(_.parEvalMapBy(2, 1)(_ % 2)(n => Task.cede.as(n))),
    unordered("merge")(source => source.merge(Stream.empty)),
    unordered("parJoin(2)")(source => source.map(n => Stream.emit(n)).parJoin(2)),
    ordered("groupWithin(2)")(_.groupWithin(2, 1.second).mapConcat(identity)),
    ordered("broadcastThrough")(_.broadcastThrough[Int](identity)),
    unordered("balance")(_.balance[Int](identity, identity)),
    ordered("concurrently")(_.concurrently(Stream.eval(Task.cede))),
    ordered("parZip")(source => source.parZip(Stream.range(0, 9)).map(_._1)),
    ordered("interruptWhen")(_.interruptWhen(Task.never))
  )

  /** Returns a source that counts in `open` how many are open. */
  private def source(open: Ref[Int], end: Stream[Int] = Stream.empty): Stream[Int] =
    Stream
      .bracket(open.update(_ + 1))(_ => open.update(_ - 1))
      .flatMap(_ => Stream(1, 2, 3).evalTap(_ => Task.cede) ++ end)

  for stage <- stages do
    orders(s"${stage.name}: all elements come through")(inStages*) {
      for
        open <- Ref.of(0)
        all <- stage.through(source(open)).toList
        n <- open.get
      yield
        assertEquals(if stage.isOrdered then all else all.sorted, List(1, 2, 3))
        assertEquals(n, 0)
    }

    orders(s"${stage.name}: a failure of the source ends it")(inStages*) {
      for
        open <- Ref.of(0)
        result <- stage.through(source(open, Stream.fail(boom))).drain.attempt
        n <- open.get
      yield
        assertEquals(result, Left(boom))
        assertEquals(n, 0)
    }

    orders(s"${stage.name}: a downstream that takes one element closes the source")(inStages*) {
      for
        open <- Ref.of(0)
        one <- stage.through(source(open)).take(1).toList
        n <- open.get
      yield
        assert(if stage.isOrdered then one == List(1) else one.size == 1, one)
        assertEquals(n, 0)
    }

    orders(s"${stage.name}: a cancel closes the source")(inStages*) {
      for
        open <- Ref.of(0)
        fiber <- stage.through(source(open)).drain.start
        _ <- fiber.cancel
        n <- open.get
      yield assertEquals(n, 0)
    }
