package weir.typelevel

import _root_.fs2.Stream
import _root_.fs2.concurrent.{Channel, SignallingRef, Topic}
import cats.effect.kernel.Ref
import cats.effect.implicits.*
import cats.syntax.all.*
import scala.concurrent.duration.*
import scala.util.Random
import weir.{Tier, WeirSuite}

/** fs2, unchanged: results, errors, cancels, and that all that began has ended. */
class Fs2Suite extends WeirSuite:
  override def limit: FiniteDuration = Tier(30.seconds, 10.minutes)

  testsOn(Backend.task)
  if Backend.hasControl then testsOn(Backend.io)

  private def testsOn[F[_]](backend: Backend[F]): Unit =
    import backend.given
    val F = backend.async
    val boom = new Exception("boom")
    val size = Tier(1_000, 100_000)

    def on[A](name: String)(body: => F[A]): Unit =
      test(s"${backend.name}: $name")(backend.run(body): Unit)

    /** The numbers of tasks that are running and that have begun. */
    final class Running(now: Ref[F, Int], begun: Ref[F, Int], most: Ref[F, Int]):
      def apply[A](body: F[A]): F[A] = F.bracket(
        now.updateAndGet(_ + 1).flatMap(n => most.update(_ max n)) *> begun.update(_ + 1)
      )(_ => body)(_ => now.update(_ - 1))
      def running: F[Int] = now.get
      def all: F[Int] = begun.get
      def peak: F[Int] = most.get
    val counted = (F.ref(0), F.ref(0), F.ref(0)).mapN(Running(_, _, _))

    on("parEvalMap keeps the order, runs so many at a time, and no more"):
      for
        running <- counted
        values <- Stream
          .range(0, size)
          .covary[F]
          .parEvalMap(8)(i => running(F.sleep(1.milli).as(i)))
          .compile
          .toVector
        peak <- running.peak
      yield
        assertEquals(values, Vector.range(0, size))
        assert(peak > 1 && peak <= 8, peak)

    on("parEvalMapUnordered has them all"):
      Stream
        .range(0, size)
        .covary[F]
        .parEvalMapUnordered(8)(i => F.cede.as(i.toLong))
        .compile
        .foldMonoid
        .map(assertEquals(_, size.toLong * (size - 1) / 2))

    on("an error of parEvalMap cancels what runs, and is the stream's"):
      for
        running <- counted
        result <- Stream
          .range(0, size)
          .covary[F]
          .parEvalMap(8)(i =>
            running(if i == 100 then F.raiseError[Int](boom) else F.sleep(1.millis).as(i))
          )
          .compile
          .drain
          .attempt
        left <- running.running
      yield assertEquals((result, left), (Left(boom), 0))

    on("parJoin has them all, each stream's in order"):
      Stream
        .range(0, 20)
        .map(i => Stream.range(0, size / 20).map(n => (i, n)).covary[F].evalTap(_ => F.cede))
        .parJoin(4)
        .compile
        .toVector
        .map { all =>
          assertEquals(all.size, 20 * (size / 20))
          for i <- 0 until 20 do
            assertEquals(all.filter(_._1 == i).map(_._2), Vector.range(0, size / 20))
        }

    on("an error of one stream of parJoin ends the others"):
      for
        running <- counted
        forever = Stream.exec(running(F.never[Unit]))
        failing = Stream.sleep_(5.millis) ++ Stream.raiseError(boom)
        result <- (Stream.emits(List.fill(5)(forever)) ++ Stream(failing))
          .parJoin(10)
          .compile
          .drain
          .attempt
        counts <- (running.all, running.running).tupled
      yield assertEquals((result, counts), (Left(boom), (5, 0)))

    on("interruptWhen ends a stream, also one that waits, and runs its finalizers"):
      for
        closed <- F.ref(0)
        signal <- F.deferred[Either[Throwable, Unit]]
        stream = (Stream(1, 2).covary[F] ++ Stream.exec(signal.complete(Right(())).void) ++
          Stream.never[F]).onFinalize(closed.update(_ + 1))
        values <- stream.interruptWhen(signal).compile.toList
        failing <- F.deferred[Either[Throwable, Unit]]
        _ <- failing.complete(Left(boom))
        error <- Stream.never[F].interruptWhen(failing).compile.drain.attempt
        count <- closed.get
      yield assertEquals((values, error, count), (List(1, 2), Left(boom), 1))

    on("groupWithin by size, and by time"):
      for
        bySize <- Stream.range(0, 100).covary[F].groupWithin(8, 1.hour).map(_.size).compile.toList
        byTime <- (Stream(1, 2).covary[F] ++ Stream.sleep_(1.second) ++ Stream(3))
          .groupWithin(8, 100.millis)
          .map(_.toList)
          .compile
          .toList
      yield
        assertEquals(bySize, List.fill(12)(8) :+ 4)
        // On a busy machine the time may be over between the first two.
        assertEquals((byTime.flatten, byTime.last), (List(1, 2, 3), List(3)))

    on("Topic: each of three subscribers has all, in order"):
      for
        topic <- Topic[F, Int]
        all <- (
          Vector.fill(3)(topic.subscribe(10).compile.toVector).parSequence,
          topic.subscribers.filter(_ == 3).take(1).compile.drain *>
            Stream.range(0, size).covary[F].through(topic.publish).compile.drain
        ).parMapN((all, _) => all)
      yield assertEquals(all, Vector.fill(3)(Vector.range(0, size)))

    on("Channel: four senders, a bound of 10, and closed at the end"):
      for
        channel <- Channel.bounded[F, Int](10)
        senders = Vector
          .range(0, 4)
          .parTraverse_(i =>
            Vector.range(0, size / 4).traverse_(n => channel.send(i * size + n))
          ) *> channel.close
        received <- (channel.stream.compile.toVector, senders).parMapN((all, _) => all)
        late <- channel.send(1)
      yield
        assertEquals(received.size, 4 * (size / 4))
        for i <- 0 until 4 do
          val own = received.filter(_ / size == i)
          assertEquals(own, own.sorted)
        assert(late.isLeft)

    on("Signal: discrete sees the last value, and waitUntil ends"):
      for
        signal <- SignallingRef[F, Int](0)
        seen <- (
          signal.discrete.takeThrough(_ < 100).compile.toVector,
          Vector.range(1, 101).traverse_(n => signal.set(n) *> F.cede),
          signal.waitUntil(_ >= 50)
        ).parMapN((seen, _, _) => seen)
      yield
        assertEquals(seen, seen.sorted)
        assertEquals(seen.last, 100)

    on("a cancel at any moment leaves nothing running"):
      val random = Random(1)
      def once: F[Unit] =
        for
          running <- counted
          inner = Stream.range(0, 50).covary[F].parEvalMap(3)(i => running(F.cede.as(i)))
          stream = Stream
            .emits(List.fill(10)(inner.merge(inner).groupWithin(5, 1.millis)))
            .parJoin(4)
            .prefetch
          fiber <- F.start(stream.repeat.compile.drain)
          _ <- F.sleep(random.nextInt(3000).micros)
          _ <- fiber.cancel
          left <- running.running
        yield assertEquals(left, 0)
      once.replicateA_(Tier(30, 2_000))
