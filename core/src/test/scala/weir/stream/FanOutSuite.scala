package weir
package stream

import java.util.SplittableRandom
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicIntegerArray
import scala.collection.immutable.AbstractSeq
import scala.concurrent.duration.*

/** A pipe of `broadcastThrough` or `balance` sees an end if upstream has ended, and only then. */
class FanOutSuite extends StreamTests:
  override def limit: FiniteDuration = Tier(60.seconds, 10.minutes)

  private type Pipe = Stream[Int] => Stream[Int]
  private type Fan = (Stream[Int], Seq[Pipe]) => Stream[Int]

  private val fans = List[(String, Fan)](
    "broadcastThrough" -> ((s, pipes) => s.broadcastThrough(pipes*)),
    "balance" -> ((s, pipes) => s.balance(pipes*))
  )

  /** Rounds of each fan with each end. */
  private val rounds = Tier.size("weir.ends.rounds", 300, 3000)

  /** The ways of the elements from the channel to the code after the end. */
  private val shapes = List[(String, (Stream[Int], Task[Any]) => Stream[Int])](
    "plain" -> ((s, commit) => s ++ Stream.exec(commit)),
    "handled" -> ((s, commit) =>
      s.handleErrorWith(e => Stream.exec(commit) ++ Stream.fail(e)) ++ Stream.exec(commit)
    ),
    "prefetched" -> ((s, commit) => s.prefetchN(1) ++ Stream.exec(commit)),
    "masked" -> ((s, commit) => Stream.eval(Task.uncancelable(_ => s.drain.andThen(commit)).as(0))),
    "in a fiber" -> ((s, commit) =>
      val forked = s.drain.andThen(commit).start.flatMap(_.join).flatMap {
        case Outcome.Failed(error) => Task.fail(error)
        case _ => Task.unit
      }
      Stream.eval(Task.uncancelable(_ => forked).as(0))
    ),
    "merged" -> ((s, commit) => s.merge(Stream.empty) ++ Stream.exec(commit))
  )

  private enum Ending:
    case Natural, Cancel, Failure, Take, Upstream

  /** True if it is right that a pipe has seen an end, or handled an error, `count` times. */
  private def isRight(ending: Ending, shape: String, count: Int): Boolean = ending match
    case Ending.Natural => count == 1
    case Ending.Upstream if shape == "handled" => count <= 1 // the first to fail cancels the others
    case _ => count == 0

  private final class Round(fan: Fan, ending: Ending, shape: Int => Int, random: SplittableRandom):
    private val count = 3
    private val heard = AtomicIntegerArray(count)
    private val begun = Deferred.unsafe[Unit]

    /** Not a wait for something: random timing is what these rounds are made of. */
    private def pause(): Task[Any] =
      val choice = synchronized(random.nextInt(8))
      choice match
        case 0 => Task.cede
        case 1 => Task.sleep((choice * 20 + 10).micros)
        case _ => Task.unit

    private def source: Stream[Int] =
      val elements = ending match
        case Ending.Natural | Ending.Upstream => Stream.range(0, synchronized(random.nextInt(40)))
        case _ => Stream.iterate(0)(_ + 1)
      val last = if ending == Ending.Upstream then Stream.fail(Boom()) else Stream.empty
      (elements.evalTap(_ => pause()) ++ last).evalTap(_ => begun.complete(()))

    private def pipe(i: Int): Pipe = elements =>
      val commit = Task(heard.incrementAndGet(i))
      shapes(shape(i))._2(elements.evalTap(_ => pause()), commit)

    private val failing: Pipe =
      val at = random.nextInt(20).toLong
      _.drop(at).evalMap(_ => Task.fail(Boom()))

    private val pipes = (0 until count).map(pipe) ++ Option.when(ending == Ending.Failure)(failing)
    private val whole = fan(source, pipes)

    def run(): List[Int] =
      ending match
        case Ending.Natural => whole.drain.runSync()
        case Ending.Upstream | Ending.Failure => assert(whole.drain.attempt.runSync().isLeft)
        case Ending.Take => whole.take(1 + random.nextLong(20)).drain.runSync()
        case Ending.Cancel =>
          val fiber = whole.drain.start.runSync()
          if random.nextInt(4) > 0 then begun.get.runSync()
          val until = System.nanoTime() + random.nextInt(200_000)
          while System.nanoTime() < until do Thread.onSpinWait()
          fiber.cancel.runSync()
          assertEquals(fiber.join.runSync(), Outcome.Canceled)
      List.tabulate(count)(heard.get)

  for
    (name, fan) <- fans
    ending <- Ending.values
  do
    test(s"$name, ${ending.toString.toLowerCase}: the end is told if upstream has ended"):
      val seed = Tier.seed("weir.stress.seed")
      println(s"FanOutSuite: -Dweir.stress.seed=$seed")
      val random = SplittableRandom(seed)
      val told = (1 to rounds).map { round =>
        // The first pipe emits elements before its end, as `take` needs.
        val shape = random.nextInt(2) :: List.fill(2)(random.nextInt(shapes.size))
        val heard = Round(fan, ending, shape, random.split()).run()
        val wrong = heard.zip(shape.map(shapes(_)._1)).collect {
          case (n, name) if !isRight(ending, name, n) => s"$name $n times"
        }
        if wrong.nonEmpty then s"round $round: ${wrong.mkString(", ")}" else ""
      }
      val wrong = told.filter(_.nonEmpty)
      assert(wrong.isEmpty, s"seed $seed: ${wrong.size} of $rounds, such as ${wrong.take(5)}")

  test("a pipe is cancelled before its channel is closed: it sees no error of its own fibers"):
    val begun, ended = CountDownLatch(1)
    var seen: Any = "nothing"
    val channel = Channel.unsafe[Any](1)
    val channels = new AbstractSeq[Channel[Any]]:
      def length: Int = 1
      def apply(index: Int): Channel[Any] = channel
      def iterator: Iterator[Channel[Any]] = Iterator.single(channel)
      override def foreach[U](close: Channel[Any] => U): Unit =
        super.foreach(close)
        await(ended)
    def pipe(elements: Stream[Any]): Stream[Any] =
      val prefetched = Task(begun.countDown()).andThen(elements.prefetchN(1).drain)
      val noted = prefetched.attempt.flatMap(end => Task { seen = end })
      Stream.emit(1) ++ Stream.exec(noted.guarantee(Task(ended.countDown())))
    val stage = Stream.of[Any](() =>
      FanOutStage(Stream.never.open(), channels, (_, _) => true, true, _.map(pipe))
    )
    stage.evalMap(_ => Task(await(begun))).take(1).drain.runSync()
    assertEquals(seen, "nothing")

  for (name, fan) <- fans do
    test(s"$name: an error that a pipe has handled is not reported as well"):
      val handles: Pipe = _.handleErrorWith(_ => Stream.empty)
      val source = Stream(1, 2) ++ Stream.fail(Boom())
      val all = fan(source, Seq(handles, handles)).fold(Set.empty[Int])(_ + _)
      assertEquals(printed(assertEquals(all.runSync(), Set(1, 2))), "")
