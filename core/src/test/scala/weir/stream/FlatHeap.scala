package weir
package stream

import scala.concurrent.duration.*
import weir.std.{Signal, Topic}

/** Sends `-Delements=…` elements through each concurrent operator. Prints the number of bytes by
  * which the heap has grown from the middle of them to the end, garbage left out. The arguments
  * name the operators; all of them if there are none.
  */
object FlatHeap:
  private val count = java.lang.Long.getLong("elements", 10_000_000L).longValue
  private val numbers = Stream.unfold(0L)(i => Option.when(i < count)((i, i + 1)))

  private type Pipe = Stream[Long] => Stream[Any]

  private val pipes = List[(String, Pipe)](
    "parEvalMap" -> (_.parEvalMap(4)(Task.pure)),
    "parEvalMap of effects that wait" -> (_.parEvalMap(4)(i => Task.cede.as(i))),
    "parEvalMapUnordered" -> (_.parEvalMapUnordered(4)(i => Task.cede.as(i))),
    "parEvalMapBy, a key for each element" -> (_.parEvalMapBy(4)(identity)(Task.pure)),
    "parEvalMapBy, waiting" -> (_.parEvalMapBy(4)(identity)(i => Task.cede.as(i))),
    "parEvalMapBy, few keys" -> (_.parEvalMapBy(4)(_ % 3)(Task.pure)),
    "parEvalMap, resized" -> (_.parEvalMap(Signal.unsafe(4), 64)(Task.pure)),
    "direct" -> (s => Stream.direct[Long](emit => for i <- s do emit(i))),
    "toSource" -> (s => Stream.resource(s.toSource).flatMap(x => Stream.fromSource(Task.pure(x)))),
    "parJoin" -> (_.map(Stream.emit).parJoin(4)),
    "parJoinUnbounded" -> (s => Stream(s, Stream.empty).parJoinUnbounded),
    "merge" -> (_.merge(numbers)),
    "mergeHaltLeft" -> (_.mergeHaltLeft(Stream.never)),
    "mergeHaltRight" -> (s => Stream.never.mergeHaltRight(s)),
    "mergeHaltBoth" -> (_.mergeHaltBoth(Stream.never)),
    "mergePreferred" -> (_.mergePreferred(numbers)),
    "concurrently" -> (_.concurrently(Stream.constant(0).evalMap(_ => Task.cede))),
    "interruptWhen" -> (_.interruptWhen(Task.never)),
    "interruptWhenTrue" -> (_.interruptWhenTrue(Stream(false) ++ Stream.never)),
    "pauseWhen" -> (_.pauseWhen(Stream(false))),
    "broadcastThrough" -> (_.broadcastThrough(_.map(_ + 1), _.filter(_ > 0))),
    "balance" -> (_.balance(_.map(_ + 1), _.filter(_ > 0))),
    "partition" -> (s => Stream.resource(s.partition(_ % 2 == 0)).flatMap(_.merge(_))),
    "a topic" -> published,
    "hold" -> (s => s.hold(-1L)(_.discrete.takeThrough(_ != count - 1))),
    "groupWithin" -> (_.groupWithin(100, 1.second)),
    "groupWeightedWithin" -> (_.groupWeightedWithin(10_000, 1.second)(_ % 300)),
    "debounce" -> (_.debounce(1.second)),
    "throttle" -> (_.throttle(1_000_000, 1.milli)),
    "throttleEnforcing" -> (_.throttleEnforcing(1_000_000, 1.nano, 1_000_000)),
    "metered" -> (_.metered(1.nano)),
    "sample" -> (_.sample(1.milli)),
    "conflate" -> (_.conflate((_, b) => b)),
    "batch" -> (_.batch(10, _ => 1)(Vector(_))(_ :+ _)),
    "expand" -> (_.expand(Iterator(_))),
    "switchMap" -> (_.switchMap(Stream.emit)),
    "timeout" -> (_.timeout(1.day)),
    "idleTimeout" -> (_.idleTimeout(1.day)),
    "keepAlive" -> (_.keepAlive(1.day, -1L)),
    "prefetchN" -> (_.prefetchN(16)),
    "prefetchBytes" -> (_.prefetchBytes(1000)(i => (i % 300).toInt)),
    "prefetchStrict" -> (_.prefetchStrict),
    "zipLatest" -> (_.zipLatest(Stream.emit(0))),
    "parZip" -> (_.parZip(numbers))
  ) ++ Overflow.values
    .filter(_ != Overflow.Fail)
    .map(overflow => s"buffer, $overflow" -> ((s: Stream[Long]) => s.buffer(16, overflow)))

  private def published(stream: Stream[Long]): Stream[Long] =
    Stream.eval(Topic[Long]).flatMap { topic =>
      val publisher = stream.evalMap(topic.publish) ++ Stream.exec(topic.close)
      Stream.resource(topic.subscription(16)).flatMap(_.concurrently(publisher))
    }

  private val recursion = "emit(n) ++ go(n + 1)"

  private def go(n: Long): Stream[Long] = Stream.emit(n) ++ go(n + 1)

  def main(args: Array[String]): Unit =
    val unknown = args.toSet -- pipes.map(_._1) - recursion
    require(unknown.isEmpty, s"no such operators: $unknown")
    def isMeant(name: String) = args.isEmpty || args.contains(name)
    for (name, pipe) <- pipes if isMeant(name) do show(name, numbers, pipe)
    if isMeant(recursion) then show(recursion, go(0).take(count), identity)
    println("complete")

  private def show(name: String, source: Stream[Long], pipe: Pipe): Unit =
    var middle, grown = 0L
    val measured = source.map { i =>
      if i == count / 2 then middle = Heap.used()
      else if i == count - 1 then grown = Heap.used() - middle
      i
    }
    val start = System.nanoTime()
    pipe(measured).drain.runSync()
    if middle == 0 then grown = Long.MaxValue
    println(s"$name: $grown bytes, ${(System.nanoTime() - start) / 1_000_000} ms")
