package weir.bench.child.stack

import cats.effect.kernel.Async
import cats.effect.std.{Queue, Semaphore}
import cats.effect.implicits.*
import cats.syntax.all.*
import java.util.concurrent.Executors

/** Measures Cats Effect's own type classes and primitives, without a library on them. */
private[stack] object EffectRows:
  def apply[F[_]](using F: Async[F]): List[Row[F]] =
    List(
      row("start and join", 1000)(F.delay(1).start.flatMap(_.joinWithNever)),
      row("bracket", 1000)(F.bracket(F.unit)(_ => F.pure(1))(_ => F.unit)),
      row("race", 1000)(F.race(F.delay(1), F.never[Int]).map(_.merge)),
      concurrent("async, called back by another thread", 64, 16)(
        F.async_[Int](callback => elsewhere.execute(() => callback(Right(1))))
      ),
      queue("Queue, 1 to 1", 1, 4096),
      queue("Queue, 8 to 8", 8, 512),
      semaphore
    )

  private lazy val elsewhere = Executors.newSingleThreadExecutor { task =>
    val thread = Thread(task, "elsewhere")
    thread.setDaemon(true)
    thread
  }

  /** Runs `one`, which returns 1, `count` times, one after the other. */
  private def times[F[_]](count: Int)(one: F[Int])(using F: Async[F]): F[Long] =
    def loop(left: Int, sum: Long): F[Long] =
      if left == 0 then F.pure(sum) else one.flatMap(n => loop(left - 1, sum + n))
    F.defer(loop(count, 0))

  private def row[F[_]: Async](name: String, count: Int)(one: F[Int]): Row[F] =
    Row(name, count, count, times(count)(one))

  private def concurrent[F[_]: Async](name: String, fibers: Int, each: Int)(one: F[Int]): Row[F] =
    val run = List.fill(fibers)(times(each)(one)).parSequence.map(_.sum)
    Row(name, fibers * each, fibers.toLong * each, run)

  private def queue[F[_]](name: String, pairs: Int, each: Int)(using F: Async[F]): Row[F] =
    val run =
      for
        queue <- Queue.bounded[F, Int](128)
        producers <- List.fill(pairs)(times(each)(queue.offer(1).as(1)).start).sequence
        consumers <- List.fill(pairs)(times(each)(queue.take).start).sequence
        _ <- producers.traverse_(_.joinWithNever)
        sums <- consumers.traverse(_.joinWithNever)
      yield sums.sum
    Row(name, pairs * each, pairs.toLong * each, run)

  private def semaphore[F[_]](using F: Async[F]): Row[F] =
    val run = Semaphore[F](2).flatMap(semaphore =>
      List.fill(8)(times(500)(semaphore.permit.surround(F.cede.as(1)))).parSequence.map(_.sum)
    )
    Row("Semaphore of 2, 8 fibers", 4000, 4000, run)
