package weir.orders

import scala.concurrent.duration.*
import weir.orders.OrdersSuite.opened
import weir.{Overflow, Ref, Stream, Task}

/** Each concurrent stage of streams in every order: with three elements, with a failure of the
  * source, with a downstream that takes one element, with a cancel and with a failure at each step.
  */
class StreamOrdersSuite extends OrdersSuite:
  override protected def shortMillis: Int = 35 // of many programs

  private val inStages = Seq("weir.stream.", "weir.group.", "weir.sync.Guarded")
  private val boom = IllegalStateException("expected")

  /** The elements that come out of a stage. */
  private enum Keeps:
    /** All, in their order. */
    case Order

    /** All. */
    case All

    /** Some of them, in their order, and the last one. */
    case Last

  private final case class Stage(
      name: String,
      keeps: Keeps,
      through: Stream[Int] => Stream[Int]
  )

  private def ordered(name: String)(through: Stream[Int] => Stream[Int]) =
    Stage(name, Keeps.Order, through)

  private def unordered(name: String)(through: Stream[Int] => Stream[Int]) =
    Stage(name, Keeps.All, through)

  private def latest(name: String)(through: Stream[Int] => Stream[Int]) =
    Stage(name, Keeps.Last, through)

  private def later(n: Int): Task[Int] = Task.cede.as(n)

  private val stages = List(
    ordered("prefetchN(1)")(_.prefetchN(1)),
    ordered("prefetchN(2)")(_.prefetchN(2)),
    ordered("prefetchBytes(2)")(_.prefetchBytes(2)(n => n)),
    ordered("prefetchStrict")(_.prefetchStrict),
    ordered("parEvalMap(1, 1)")(_.parEvalMap(1, 1)(later)),
    ordered("parEvalMap(2, 1)")(_.parEvalMap(2, 1)(later)),
    unordered("parEvalMapUnordered(2, 1)")(_.parEvalMapUnordered(2, 1)(later)),
    unordered("parEvalMapUnordered(2, 2)")(_.parEvalMapUnordered(2, 2)(later)),
    unordered("parEvalMapBy(2, 1)")(_.parEvalMapBy(2, 1)(_ % 2)(later)),
    unordered("merge")(source => source.merge(Stream.empty)),
    unordered("mergePreferred")(source => source.mergePreferred(Stream.empty)),
    unordered("mergeHaltLeft")(source => source.mergeHaltLeft(Stream.eval(Task.never))),
    unordered("parJoin(1)")(source => source.map(n => Stream.emit(n)).parJoin(1)),
    unordered("parJoin(2)")(source => source.map(n => Stream.emit(n)).parJoin(2)),
    ordered("groupWithin(1)")(_.groupWithin(1, 1.second).mapConcat(identity)),
    ordered("groupWithin(2)")(_.groupWithin(2, 1.second).mapConcat(identity)),
    ordered("groupWeightedWithin(2)")(
      _.groupWeightedWithin(2, 1.second)(_.toLong).mapConcat(identity)
    ),
    ordered("groupWeightedWithin(4)")(
      _.groupWeightedWithin(4, 1.second)(_.toLong).mapConcat(identity)
    ),
    ordered("broadcastThrough(1)")(_.broadcastThrough[Int](identity)),
    unordered("broadcastThrough(2)")(_.broadcastThrough[Int](identity, _.filter(_ < 0))),
    unordered("balance(2)")(_.balance[Int](identity, identity)),
    ordered("concurrently")(_.concurrently(Stream.eval(Task.cede))),
    ordered("parZip")(source => source.parZip(Stream.range(0, 9)).map(_._1)),
    ordered("interruptWhen")(_.interruptWhen(Task.never)),
    ordered("timeout")(_.timeout(1.second)),
    ordered("idleTimeout")(_.idleTimeout(1.second)),
    ordered("keepAlive")(_.keepAlive(1.second, 0)),
    latest("switchMap")(_.switchMap(n => Stream.emit(n))),
    latest("debounce")(_.debounce(1.second)),
    latest("sample")(_.sample(1.second)),
    latest("conflate")(_.conflate((_, n) => n)),
    latest("buffer(1)")(_.buffer(1, Overflow.DropOldest)),
    ordered("buffer(4)")(_.buffer(4, Overflow.Fail)),
    latest("zipLatest")(source => source.zipLatest(Stream.emit(0)).map(_._1)),
    ordered("pauseWhen")(_.pauseWhen(Stream.empty))
  )

  /** Returns a source that counts in `open` how many are open. */
  private def source(open: Ref[Int], end: Stream[Int] = Stream.empty): Stream[Int] =
    Stream
      .resource(opened(open))
      .flatMap(_ => Stream(1, 2, 3).evalTap(_ => Task.cede) ++ end)

  for stage <- stages do
    val name = stage.name

    orders(s"$name: all elements come through")(inStages*) {
      for
        open <- Ref.of(0)
        all <- stage.through(source(open)).toList
        left <- open.get
      yield
        stage.keeps match
          case Keeps.Order => assertEquals(all, List(1, 2, 3))
          case Keeps.All => assertEquals(all.sorted, List(1, 2, 3))
          case Keeps.Last => assert(all == all.sorted && all.lastOption.contains(3), all)
        assertEquals(left, 0)
    }

    orders(s"$name: a failure of the source ends it")(inStages*) {
      for
        open <- Ref.of(0)
        result <- stage.through(source(open, Stream.fail(boom))).drain.attempt
        left <- open.get
      yield
        assertEquals(result, Left(boom))
        assertEquals(left, 0)
    }

    orders(s"$name: a downstream that takes one element closes the source")(inStages*) {
      for
        open <- Ref.of(0)
        one <- stage.through(source(open)).take(1).toList
        left <- open.get
      yield
        assert(if stage.keeps == Keeps.Order then one == List(1) else one.size == 1, one)
        assertEquals(left, 0)
    }

    cancels(s"$name: a cancel at each step closes the source")(inStages*) { cancelled =>
      for
        open <- Ref.of(0)
        _ <- cancelled(stage.through(source(open)).drain)
        left <- open.get
      yield assertEquals(left, 0)
    }

    fails(s"$name: a failure at each step closes the source")(inStages*) { failing =>
      for
        open <- Ref.of(0)
        _ <- failing(stage.through(source(open)).drain)
        left <- open.get
      yield assertEquals(left, 0)
    }
