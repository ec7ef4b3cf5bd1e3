package weir.bench

import cats.effect.kernel.{Async, Deferred, Ref}
import cats.effect.syntax.all.*
import cats.syntax.all.*
import java.util.concurrent.Executors

/* Measures the operations of Cats Effect's type classes, on Task and on IO. One fiber does each of
 * them again and again.
 */

/** A callback that a thread outside of the runtime calls. */
class CatsAsync extends CatsLoop:
  private val outside = CatsAsync.thread
  protected def step[F[_]: Async]: F[Int] =
    Async[F].async_[Int](callback => outside.execute(() => callback(Right(1))))

object CatsAsync:
  private[bench] lazy val thread =
    Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("outside").factory())

/** As `CatsAsync`, with a finalizer. */
class CatsAsyncCancelable extends CatsLoop:
  private val outside = CatsAsync.thread
  protected def step[F[_]: Async]: F[Int] = Async[F].async[Int](callback =>
    Async[F].delay {
      outside.execute(() => callback(Right(1)))
      Some(Async[F].unit)
    }
  )

class CatsDelay extends CatsLoop:
  protected def step[F[_]: Async]: F[Int] = Async[F].delay(1)

class CatsStartJoin extends CatsLoop:
  protected def step[F[_]: Async]: F[Int] = Async[F].delay(1).start.flatMap(_.joinWithNever)

class CatsBracket extends CatsLoop:
  protected def step[F[_]: Async]: F[Int] =
    Async[F].bracket(Async[F].delay(1))(n => Async[F].delay(n))(_ => Async[F].unit)

class CatsRace extends CatsLoop:
  protected def step[F[_]: Async]: F[Int] =
    Async[F].race(Async[F].delay(1), Async[F].delay(1)).map(_.merge)

class CatsMasked extends CatsLoop:
  protected def step[F[_]: Async]: F[Int] =
    Async[F].uncancelable(poll => poll(Async[F].delay(1)))

class CatsRef extends CatsLoop:
  protected def step[F[_]: Async]: F[Int] =
    Ref[F].of(0).flatMap(ref => ref.update(_ + 1) >> ref.modify(n => (n + 1, n)))

/** Set by another fiber, while this one waits. */
class CatsDeferred extends CatsLoop:
  protected def step[F[_]: Async]: F[Int] =
    Deferred[F, Int].flatMap(value => value.complete(1).start >> value.get)
