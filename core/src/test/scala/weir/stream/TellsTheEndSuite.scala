package weir
package stream

import java.util.SplittableRandom
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.std.Topic

/** Stages and sinks that end a channel, a queue or a subscriber tell an end if the source has ended
  * by itself, and only then. `FanOutSuite` is the same for `broadcastThrough` and `balance`.
  */
class TellsTheEndSuite extends StreamTests:
  override def limit: FiniteDuration = Tier(60.seconds, 10.minutes)

  /** Rounds of each form with each ending. */
  private val rounds = Tier.size("weir.ends.rounds", 60, 3000)

  /** A function that runs `source` through a stage, or through a sink and a reader of that, and
    * then `commit`.
    */
  private type Form = (Stream[Int], Stream[Nothing]) => Stream[Int]

  private val forms = List[(String, Form)](
    "prefetchN" -> ((s, commit) => s.prefetchN(2) ++ commit),
    "prefetchStrict" -> ((s, commit) => s.prefetchStrict ++ commit),
    "buffer" -> ((s, commit) => s.buffer(4, Overflow.DropOldest) ++ commit),
    "groupWithin" -> ((s, commit) => s.groupWithin(3, 1.milli).map(_.head) ++ commit),
    "groupWeightedWithin" -> ((s, commit) =>
      s.groupWeightedWithin(9, 1.milli)(_.toLong).map(_.head) ++ commit
    ),
    "merge" -> ((s, commit) => s.merge(Stream.empty) ++ commit),
    "parJoin" -> ((s, commit) => Stream(s, s).parJoin(2) ++ commit),
    "parEvalMap" -> ((s, commit) => s.parEvalMap(2)(Task.pure) ++ commit),
    "parEvalMapBy" -> ((s, commit) => s.parEvalMapBy(2)(_ % 3)(Task.pure) ++ commit),
    "switchMap" -> ((s, commit) => Stream(1).switchMap(_ => s ++ commit)),
    "hold" -> ((s, commit) => Stream.never.hold(0)(_ => s) ++ commit),
    "concurrently" -> ((s, commit) => s.concurrently(Stream.never) ++ commit),
    "Stream.direct" -> ((s, commit) => Stream.direct[Int](emit => for i <- s do emit(i)) ++ commit),
    "Stream.async" -> ((s, commit) =>
      Stream.async[Int](16, Overflow.DropOldest) { emit =>
        s.evalForeach(i => Task(emit(i)))
          .attempt
          .map(_.fold(emit.fail, _ => emit.end()))
          .background
      } ++ commit
    ),
    "intoChannel" -> ((s, commit) =>
      Stream.eval(Channel.bounded[Int](4)).flatMap { channel =>
        (channel.stream ++ commit).concurrently(Stream.eval(s.intoChannel(channel)))
      }
    ),
    "intoQueueNoneTerminated" -> ((s, commit) =>
      Stream.eval(Queue.bounded[Option[Int]](4)).flatMap { queue =>
        val filled = Stream.eval(s.intoQueueNoneTerminated(queue))
        (Stream.fromQueueNoneTerminated(queue) ++ commit).concurrently(filled)
      }
    ),
    "toPublisher" -> ((s, commit) => Stream.fromPublisher(s.toPublisher, 4) ++ commit),
    "processor" -> ((s, commit) =>
      Stream.suspend {
        val processor = Stream.processor[Int, Int](identity, 4)
        s.toPublisher.subscribe(processor)
        Stream.fromPublisher(processor, 4) ++ commit
      }
    ),
    "partition" -> ((s, commit) =>
      Stream.resource(s.partition(_ => true)).flatMap((all, none) => (all ++ commit).merge(none))
    ),
    "toInputStream" -> ((s, commit) =>
      Stream
        .resource(s.map(i => Array(i.toByte)).toInputStream)
        .flatMap(input => Stream.repeatEval(Task(input.read())).takeWhile(_ >= 0)) ++ commit
    ),
    "toSource" -> ((s, commit) =>
      Stream.resource(s.toSource).flatMap(source => Stream.fromSource(Task.pure(source))) ++ commit
    ),
    "Topic" -> ((s, commit) =>
      Stream.eval(Topic[Int]).flatMap { topic =>
        Stream.resource(topic.subscription(4)).flatMap { values =>
          val published = s.evalForeach(topic.publish) >> topic.close
          (values ++ commit).concurrently(Stream.eval(published))
        }
      }
    )
  )

  private enum Ending:
    case Natural, Cancel, Failure, Take, Upstream

  /** The number of runs of `commit`. */
  private def run(form: Form, ending: Ending, random: SplittableRandom): Int =
    val commits = AtomicInteger()
    val begun = Deferred.unsafe[Unit]
    val seed = random.nextInt(8)
    // Random timing, not a wait for something.
    def pause(i: Int): Task[Any] = (seed + i) % 8 match
      case 0 => Task.cede
      case 1 => Task.sleep(20.micros)
      case _ => Task.unit
    val elements = ending match
      case Ending.Natural | Ending.Upstream => Stream.range(1, 2 + random.nextInt(20))
      case _ => Stream.iterate(1)(i => i % 100 + 1)
    val last = if ending == Ending.Upstream then Stream.fail(Boom()) else Stream.empty
    val source = (elements.evalTap(pause) ++ last).evalTap(_ => begun.complete(()))
    val whole = form(source, Stream.exec(Task(commits.incrementAndGet())))
    ending match
      case Ending.Natural => whole.drain.runSync()
      case Ending.Upstream => assert(whole.drain.attempt.runSync().isLeft)
      case Ending.Take => whole.take(1 + random.nextLong(9)).drain.runSync()
      case Ending.Failure =>
        val failing = begun.get >> Task.sleep(random.nextInt(200).micros) >> Task.fail(Boom())
        assert(whole.concurrently(Stream.eval(failing)).drain.attempt.runSync().isLeft)
      case Ending.Cancel =>
        val fiber = whole.drain.start.runSync()
        if random.nextInt(4) > 0 then begun.get.runSync()
        val until = System.nanoTime() + random.nextInt(200_000)
        while System.nanoTime() < until do Thread.onSpinWait()
        fiber.cancel.runSync()
        assertEquals(fiber.join.runSync(), Outcome.Canceled)
    commits.get

  for (name, form) <- forms do
    test(s"$name: the end is told if the source has ended"):
      val seed = Tier.seed("weir.stress.seed")
      val random = SplittableRandom(seed)
      for ending <- Ending.values do
        val expected = if ending == Ending.Natural then 1 else 0
        val wrong = (1 to rounds).count(_ => run(form, ending, random.split()) != expected)
        assertEquals(wrong, 0, s"-Dweir.stress.seed=$seed: $ending, of $rounds")
