package weir

import scala.concurrent.duration.*
import weir.io.Source
import weir.std.{Signal, StreamMonitor}

/** Each operator of a stream, run again and beside another run. */
class RunTwiceOperatorsSuite extends RunTwice:
  private val ns = Stream(1, 2, 3)
  private val failing = Stream(1) ++ Stream.fail(Exception("no"))
  private def even(n: Int) = n % 2 == 0
  private def next(n: Int) = Task(n + 1)

  complete(
    List(classOf[Stream[?]]),
    internal = Set("beside", "transform", "withEnd").map("Stream." + _)
  )

  /** The elements in any order. */
  private def mixed(name: String)(expected: Int*)(description: => Stream[Int]): Unit =
    row(s"Stream.$name")(expected.toList)(description.toList.map(_.sorted))

  private def gives(name: String)(expected: Any*)(description: => Stream[Any]): Unit =
    elements(s"Stream.$name")(expected*)(description)

  private def ends[A](name: String)(expected: A)(description: => Task[A]): Unit =
    row(s"Stream.$name")(expected)(description)

  // ---- on one fiber ----

  gives("map")(2, 3, 4)(ns.map(_ + 1))
  gives("filter")(2)(ns.filter(even))
  gives("withFilter")(2)(ns.withFilter(even))
  gives("filterNot")(1, 3)(ns.filterNot(even))
  gives("flatMap")(1, 1, 2, 2, 3, 3)(ns.flatMap(n => Stream(n, n)))
  gives("flatten")(1, 2, 3, 1, 2, 3)(Stream(ns, ns).flatten)
  gives("evalMap")(2, 3, 4)(ns.evalMap(next))
  gives("evalTap")(1, 2, 3)(ns.evalTap(next))
  gives("evalFilter")(2)(ns.evalFilter(n => Task(even(n))))
  gives("evalCollect")(2)(ns.evalCollect(n => Task(Option.when(even(n))(n))))
  gives("evalScan")(0, 1, 3, 6)(ns.evalScan(0)((sum, n) => Task(sum + n)))
  gives("evalMapAccumulate")(1, 3, 6)(
    ns.evalMapAccumulate(0)((sum, n) => Task((sum + n, sum + n)))
  )
  gives("take")(1, 2)(ns.take(2))
  gives("drop")(3)(ns.drop(2))
  gives("takeWhile")(1)(ns.takeWhile(_ < 2))
  gives("takeThrough")(1, 2)(ns.takeThrough(_ < 2))
  gives("takeRight")(2, 3)(ns.takeRight(2))
  gives("dropWhile")(2, 3)(ns.dropWhile(_ < 2))
  gives("dropRight")(1)(ns.dropRight(2))
  gives("chunkN")(Vector(1, 2), Vector(3))(ns.chunkN(2))
  gives("chunks")(1, 2, 3)(ns.chunks().mapConcat(identity))
  gives("chunkWeighted")(Vector(1, 2), Vector(3))(ns.chunkWeighted(3)(_.toLong))
  gives("sliding")(Vector(1, 2), Vector(2, 3))(ns.sliding(2))
  gives("split")(Vector(1), Vector(3))(ns.split(even))
  gives("groupAdjacentBy")((false, Vector(1)), (true, Vector(2)), (false, Vector(3)))(
    ns.groupAdjacentBy(even)
  )
  gives("scan")(0, 1, 3, 6)(ns.scan(0)(_ + _))
  gives("mapAccumulate")(1, 3, 6)(ns.mapAccumulate(0)((sum, n) => (sum + n, sum + n)))
  gives("collect")(4)(ns.collect { case 2 => 4 })
  gives("mapConcat")(1, 1, 2, 2, 3, 3)(ns.mapConcat(n => Iterator(n, n)))
  gives("zip")((1, 1), (2, 2), (3, 3))(ns.zip(ns))
  gives("zipWith")(2, 4, 6)(ns.zipWith(ns)(_ + _))
  gives("zipAll")((1, 1), (2, 9), (3, 9))(ns.zipAll(ns.take(1))(8, 9))
  gives("zipAllWith")(2, 11, 12)(ns.zipAllWith(ns.take(1))(8, 9)(_ + _))
  gives("zipWithIndex")((1, 0L), (2, 1L), (3, 2L))(ns.zipWithIndex)
  gives("zipWithNext")((1, Some(2)), (2, Some(3)), (3, None))(ns.zipWithNext)
  gives("zipWithPrevious")((None, 1), (Some(1), 2), (Some(2), 3))(ns.zipWithPrevious)
  gives("interleave")(1, 4, 2, 5)(ns.interleave(Stream(4, 5)))
  gives("intersperse")(1, 0, 2, 0, 3)(ns.intersperse(0))
  gives("changes")(1, 2)(Stream(1, 1, 2).changes)
  gives("changesBy")(1, 2)(Stream(1, 3, 2).changesBy(even))
  gives("distinct")(1, 2)(Stream(1, 2, 1).distinct)
  gives("distinctBy")(1, 2)(ns.distinctBy(even))
  gives("unNone")(1)(Stream(Some(1), None).unNone)
  gives("unNoneTerminate")(1)(Stream(Some(1), None, Some(2)).unNoneTerminate)
  gives("rethrow")(1)(Stream(Right(1)).rethrow)
  gives("as")(0, 0, 0)(ns.as(0))
  gives("void")((), (), ())(ns.void)
  gives("$plus$plus")(1, 2, 3, 1, 2, 3)(ns ++ ns)
  gives("prepend")(0, 1, 2, 3)(ns.prepend(0))
  gives("ifEmpty")(1)(Stream.empty.ifEmpty(Stream(1)))
  gives("repeat")(1, 2, 3, 1)(ns.repeat.take(4))
  gives("repeatN")(1, 2, 3, 1, 2, 3)(ns.repeatN(2))
  gives("debug")()(Stream.empty.debug())
  gives("named")(1, 2, 3)(ns.named("three"))
  gives("observed")(1, 2, 3)(Stream.eval(StreamMonitor()).flatMap(ns.observed(_)))
  gives("delayBy")(1, 2, 3)(ns.delayBy(1.nano))
  gives("mapWithResource")(2, 3, 4)(ns.mapWithResource(Resource.pure(1))(_ + _))
  gives("through")(2, 3, 4)(ns.through(_.map(_ + 1)))
  gives("expand")(1, 2, 3)(ns.expand(Iterator(_)))

  // ---- errors, ends ----

  gives("attempt")(Right(1), true)(failing.attempt.map {
    case Left(_) => true
    case right => right
  })
  gives("handleErrorWith")(1, 2)(failing.handleErrorWith(_ => Stream(2)))
  gives("recoverWith")(1, 2)(failing.recoverWith { case _ => Stream(2) })
  gives("recover")(1, 2)(failing.recover { case _ => 2 })
  gives("orElse")(1, 2)(failing.orElse(Stream(2)))
  gives("adaptError")(1, "other")(
    failing.adaptError { case _ => Exception("other") }.handleErrorWith(e => Stream(e.getMessage))
  )
  gives("onError")(1, 2)(failing.onError { case _ => Task.unit }.orElse(Stream(2)))
  gives("retry")(1, 1, 1, 2)(failing.retry(Schedule.recurs(2)).orElse(Stream(2)))
  gives("onFinalize")(1, 2, 3)(ns.onFinalize(Task.unit))
  gives("onFinalizeCase")(1, 2, 3)(ns.onFinalizeCase(_ => Task.unit))

  // ---- concurrently ----

  gives("prefetchN")(1, 2, 3)(ns.prefetchN(2))
  gives("prefetchBytes")(1, 2, 3)(ns.prefetchBytes(2)(_ => 1))
  gives("prefetchStrict")(1, 2, 3)(ns.prefetchStrict)
  mixed("merge")(1, 1, 2, 2, 3, 3)(ns.merge(ns))
  mixed("mergePreferred")(1, 1, 2, 2, 3, 3)(ns.mergePreferred(ns))
  mixed("mergeHaltLeft")(1, 2, 3)(ns.mergeHaltLeft(Stream.never))
  mixed("mergeHaltRight")(1, 2, 3)(Stream.never.mergeHaltRight(ns))
  mixed("mergeHaltBoth")(1, 2, 3)(ns.mergeHaltBoth(Stream.never))
  mixed("parJoin")(1, 1, 2, 2, 3, 3)(Stream(ns, ns).parJoin(2))
  mixed("parJoinUnbounded")(1, 1, 2, 2, 3, 3)(Stream(ns, ns).parJoinUnbounded)
  gives("parEvalMap")(2, 3, 4)(ns.parEvalMap(2)(next))
  gives("parEvalMap, resized")(2, 3, 4)(ns.parEvalMap(Signal.unsafe(2), 9)(next))
  mixed("parEvalMapUnordered")(2, 3, 4)(ns.parEvalMapUnordered(2)(next))
  mixed("parEvalMapUnordered, resized")(2, 3, 4)(
    ns.parEvalMapUnordered(Signal.unsafe(2), 9)(next)
  )
  gives("parEvalMapUnbounded")(2, 3, 4)(ns.parEvalMapUnbounded(next))
  mixed("parEvalMapBy")(2, 3, 4)(ns.parEvalMapBy(2)(identity)(next))
  gives("parZip")((1, 1), (2, 2), (3, 3))(ns.parZip(ns))
  gives("zipLatest")((3, 3))(Stream.emit(3).zipLatest(Stream.emit(3)))
  gives("groupWithin")(Vector(1, 2), Vector(3))(ns.groupWithin(2, 1.minute))
  gives("groupWeightedWithin")(Vector(1, 2), Vector(3))(
    ns.groupWeightedWithin(3, 1.minute)(_.toLong)
  )
  gives("metered")(1, 2, 3)(ns.metered(1.nano))
  gives("throttle")(1, 2, 3)(ns.throttle(3, 1.nano))
  gives("throttleEnforcing")(1, 2, 3)(ns.throttleEnforcing(1, 1.minute, burst = 3))
  gives("spaced")(1, 2, 3)(ns.spaced(1.nano))
  gives("debounce")(3)(Stream.emit(3).debounce(1.nano))
  gives("sample")(3)(Stream.emit(3).sample(1.minute))
  gives("buffer")(1, 2, 3)(ns.buffer(9, Overflow.Fail))
  ends("conflate")(Some(6))(ns.conflate(_ + _).reduce(_ + _))
  ends("batch")(Some(6))(ns.batch(9, _ => 1)(identity)(_ + _).reduce(_ + _))
  gives("keepAlive")(1, 2, 3)(ns.keepAlive(1.minute, 0))
  gives("concurrently")(1, 2, 3)(ns.concurrently(Stream.never))
  gives("interruptWhen")(1, 2, 3)(ns.interruptWhen(Task.never))
  gives("interruptWhenTrue")(1, 2, 3)(ns.interruptWhenTrue(Stream(false)))
  gives("timeout")(1, 2, 3)(ns.timeout(1.minute))
  gives("idleTimeout")(1, 2, 3)(ns.idleTimeout(1.minute))
  gives("switchMap")(1)(Stream.emit(1).switchMap(Stream.emit(_)))
  gives("hold")(0)(ns.hold(0)(_ => Stream(0)))
  gives("interruptWhenTrue, of a signal")(1, 2, 3)(ns.interruptWhenTrue(Signal.unsafe(false)))
  gives("pauseWhen, of a signal")(1, 2, 3)(ns.pauseWhen(Signal.unsafe(false)))
  gives("pauseWhen")(1, 2, 3)(ns.pauseWhen(Stream(false)))
  mixed("broadcastThrough")(1, 1, 2, 2, 3, 3)(ns.broadcastThrough(identity, identity))
  mixed("balance")(1, 2, 3)(ns.balance(identity, identity))

  // ---- as a task or a resource ----

  gives("toPublisherResource")(1, 2, 3)(
    Stream.resource(ns.toPublisherResource[Int]).flatMap(Stream.fromPublisher(_))
  )
  ends("drain")(())(ns.drain)
  ends("toList")(List(1, 2, 3))(ns.toList)
  ends("toVector")(Vector(1, 2, 3))(ns.toVector)
  ends("toCollection")(Set(1, 2, 3))(ns.toCollection(Set))
  ends("fold")(6)(ns.fold(0)(_ + _))
  ends("evalFold")(6)(ns.evalFold(0)((sum, n) => Task(sum + n)))
  ends("evalForeach")(())(ns.evalForeach(next))
  ends("reduce")(Some(6))(ns.reduce(_ + _))
  ends("sum")(6)(ns.sum)
  ends("count")(3L)(ns.count)
  ends("head")(Some(1))(ns.head)
  ends("last")(Some(3))(ns.last)
  ends("find")(Some(2))(ns.find(even))
  ends("collectFirst")(Some(4))(ns.collectFirst { case 2 => 4 })
  ends("exists")(true)(ns.exists(even))
  ends("forall")(false)(ns.forall(even))
  ends("mkString")("123")(ns.mkString())
  ends("to")(3L)(ns.to(_.count))
  ends("toSource")(Some(1))(
    ns.toSource.use(source => Task.direct(Some(source.next()).filter(_ != Source.End)))
  )
  ends("toPull")(Some(1))(ns.toPull.use(identity))
  ends("toIterator")(List(1, 2, 3))(ns.toIterator.use(items => Task(items.toList)))
  ends("uncons")(Some((1, List(2, 3))))(ns.uncons.use {
    case Some((first, rest)) => rest.toList.map(rest => Some((first, rest)))
    case None => Task.pure(None)
  })
  ends("partition")((List(2), List(1, 3)))(
    ns.partition(even).use((some, others) => some.toList.both(others.toList))
  )
