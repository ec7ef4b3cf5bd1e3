package weir.interop.fs2

import _root_.fs2.{Chunk, CompositeFailure, Stream as Fs2Stream}
import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.util.Random
import weir.interop.cats.given
import weir.testkit.TestRuntime
import weir.{Stream, Task, Tier, WeirSuite}

/** Random programs of fs2, with random consumers of Weir's: none hangs, nothing is left running or
  * open, the elements and the error are those of fs2.
  *
  * A program that does not look at the clock has to give the same result as in fs2. One that does
  * gives a part of that, in order.
  */
class ToWeirRandomSuite extends WeirSuite:
  override def limit: FiniteDuration = Tier(2.minutes, 20.minutes)

  private val rounds = Tier(400, 3_000)
  private val seed = Tier.seed("weir.stress.seed")

  test(s"$rounds programs on a clock of their own, from the seed $seed"):
    for round <- 0 until rounds do check(round, task => TestRuntime.seeded(seed + round).run(task))

  test(s"$rounds programs on all processors, from the seed $seed"):
    for round <- 0 until rounds do check(round, task => within(20.seconds)(task.runSync()))

  private def check(round: Int, run: Task[Unit] => Unit): Unit =
    val program = Program(Random(seed + round))
    try run(program.round)
    catch
      case error: Throwable =>
        throw AssertionError(s"-Dweir.stress.seed=${seed + round}, round 0: ${program.text}", error)

  private final class Program(random: Random):
    private val boom = Boom()
    private val open = AtomicInteger()
    private val words = List.newBuilder[String]

    /** True if fs2 always gives the same elements. */
    private var isExact = true

    /** True if something in it may be interrupted. */
    private var isInterrupted = false

    private def said(word: String): Unit = words += word
    private def moment(): FiniteDuration =
      val micros = random.nextInt(2000)
      said(s"${micros}us")
      micros.micros

    private val stream: Fs2Stream[Task, Int] =
      (1 to 1 + random.nextInt(3)).foldLeft(source(0))((built, part) =>
        val altered = (1 to random.nextInt(3)).foldLeft(built)((stream, _) => operator(stream))
        val more = if random.nextInt(3) == 0 then source(part * 100) else Fs2Stream.empty
        altered ++ more
      )
    private val consumer = said("toWeir") -> random.nextInt(5)
    private val pause = moment()
    private val count = 1 + random.nextInt(20)
    said(s"consumer ${consumer._2}, $count")

    def text: String = words.result().mkString(" ")

    /** Increasing numbers above `first`, in chunks, in a scope with a finalizer. */
    private def source(first: Int): Fs2Stream[Task, Int] =
      val chunks = List.fill(random.nextInt(4))(1 + random.nextInt(4))
      val elements = chunks
        .scanLeft(first)(_ + _)
        .zip(chunks)
        .map((from, size) => Chunk.from(from + 1 to from + size))
      val waits = random.nextInt(3) match
        case 0 => Fs2Stream.empty
        case 1 => Fs2Stream.exec(Task.cede)
        case _ => Fs2Stream.sleep_[Task](moment())
      val end = random.nextInt(4) match
        case 0 => "fail" -> Fs2Stream.raiseError[Task](boom)
        case _ => "end" -> Fs2Stream.empty
      said(s"source($first, ${chunks.mkString(",")}, ${end._1})")
      Fs2Stream
        .bracket(Task(open.incrementAndGet()))(_ => Task(open.decrementAndGet()).void)
        .flatMap(_ => Fs2Stream.emits(elements).flatMap(waits ++ Fs2Stream.chunk(_)) ++ end._2)

    private def operator(stream: Fs2Stream[Task, Int]): Fs2Stream[Task, Int] =
      def inexact(name: String)(result: => Fs2Stream[Task, Int]): Fs2Stream[Task, Int] =
        said(name)
        isExact = false
        result
      def interrupted(name: String)(result: => Fs2Stream[Task, Int]): Fs2Stream[Task, Int] =
        isInterrupted = true
        inexact(name)(result)
      lazy val later = Fs2Stream.sleep_[Task](moment())
      random.nextInt(9) match
        case 0 => interrupted("interruptAfter")(stream.interruptAfter(moment()))
        case 1 => interrupted("timeout")(stream.timeout(moment()))
        case 2 =>
          interrupted("concurrently")(
            stream.concurrently(later ++ Fs2Stream.raiseError[Task](boom))
          )
        case 3 =>
          interrupted("interruptWhen")(
            (stream ++ Fs2Stream.never[Task]).interruptWhen(later ++ Fs2Stream(true))
          )
        // An error overtakes what is in the buffer. Over a stream that is interrupted, fs2's own
        // prefetchN hangs now and then, on IO too.
        case 4 if !isInterrupted => inexact("prefetchN")(stream.prefetchN(1 + random.nextInt(3)))
        case 5 => inexact("parJoin")(Fs2Stream(stream).parJoin(2))
        case 6 =>
          said("concurrently")
          stream.concurrently(Fs2Stream.never[Task])
        case 7 =>
          said("chunkLimit")
          stream.chunkLimit(2).unchunks
        case _ =>
          said("attempt")
          stream.handleErrorWith(_ => Fs2Stream.empty)

    def round: Task[Unit] =
      for
        own <- if isExact then stream.attempt.compile.toList.map(Some(_)) else Task.pure(None)
        _ <- consume(stream.toWeir, own)
        left <- Task(open.get)
      yield assertEquals(left, 0, "sources that are open")

    private def consume(stream: Stream[Int], own: Option[Elements]): Task[Any] =
      val slow = stream.evalMap(n => Task.sleep(pause).as(n))
      consumer._2 match
        case 0 => result(stream).map(seen(own, Int.MaxValue))
        case 1 => result(slow).map(seen(own, Int.MaxValue))
        case 2 => result(slow.take(count)).map(seen(own, count))
        case 3 =>
          val failing = slow.zipWithIndex
            .evalMap((n, i) => Task.raiseWhen(i == count)(boom).as(n))
          result(failing).map(seen(own, count))
        case _ =>
          slow.drain.start
            .flatMap(fiber => Task.sleep(pause * count) >> fiber.cancel >> fiber.join)

    /** The last one may be an error of a finalizer. */
    private def result(stream: Stream[Int]): Task[Elements] =
      Task.defer {
        val all = List.newBuilder[Either[Throwable, Int]]
        stream.attempt.evalMap(element => Task(all += element)).drain.attempt.map {
          case Left(error) => (all += Left(error)).result()
          case Right(_) => all.result()
        }
      }

    private def isOurs(error: Throwable): Boolean = error match
      case several: CompositeFailure => several.all.forall(isOurs)
      case _: TimeoutException => true
      case other => other eq boom

    private def seen(own: Option[Elements], count: Int)(all: Elements): Unit =
      val values = all.collect { case Right(value) => value }
      assertEquals(values, values.distinct.sorted)
      assert(values.size <= count)
      assert(all.collect { case Left(error) => error }.forall(isOurs), all)
      own.foreach { own =>
        if count == Int.MaxValue then assertEquals(all, own)
        else assertEquals(values, own.collect { case Right(value) => value }.take(count))
      }

    private type Elements = List[Either[Throwable, Int]]
