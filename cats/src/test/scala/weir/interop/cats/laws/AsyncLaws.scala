package weir.interop.cats.laws

import _root_.cats.Eq
import _root_.cats.effect.kernel.Async
import _root_.cats.syntax.all.*
import org.scalacheck.Prop.forAll
import org.scalacheck.{Gen, Prop}
import scala.concurrent.ExecutionContext

/** The laws of Cats Effect's `Async` itself: see `EffectLaws`. */
final class AsyncLaws[F[_]](rig: Rig[F]):
  import Rig.given
  import rig.given
  private val F: Async[F] = rig.effect
  private type A = Int

  extension [X](left: F[X])
    private def <->(right: F[X])(using eq: Eq[F[X]]): Prop =
      if eq.eqv(left, right) then Prop.proved
      else Prop.falsified :| s"left: ${rig.run(left)}, right: ${rig.run(right)}"

  def all: Seq[(String, Prop)] = Seq(
    "asyncCheckAttempt immediate is pure" -> forAll((a: A) =>
      (F.asyncCheckAttempt[A](_ => F.pure(Right(a))) <* F.unit) <-> F.pure(a)
    ),
    "asyncCheckAttempt suspended right is async right" -> forAll((a: A, fu: F[Unit]) =>
      (F.asyncCheckAttempt[A](k => F.delay(k(Right(a))) >> fu.as(Left(None))) <* F.unit) <->
        (F.async[A](k => F.delay(k(Right(a))) >> fu.as(None)) <* F.unit)
    ),
    "asyncCheckAttempt suspended left is async left" -> forAll((e: Throwable, fu: F[Unit]) =>
      (F.asyncCheckAttempt[A](k => F.delay(k(Left(e))) >> fu.as(Left(None))) <* F.unit) <->
        (F.async[A](k => F.delay(k(Left(e))) >> fu.as(None)) <* F.unit)
    ),
    "async right is uncancelable sequenced pure" -> forAll((a: A, fu: F[Unit]) =>
      (F.async[A](k => F.delay(k(Right(a))) >> fu.as(None)) <* F.unit) <->
        (F.uncancelable(_ => fu) >> F.pure(a))
    ),
    "async left is uncancelable sequenced raiseError" -> forAll((e: Throwable, fu: F[Unit]) =>
      (F.async[A](k => F.delay(k(Left(e))) >> fu.as(None)) <* F.unit) <->
        (F.uncancelable(_ => fu) >> F.raiseError(e))
    ),
    "async repeated callback is ignored" -> forAll((a: A) =>
      F.async[A](k => F.delay(k(Right(a))) >> F.delay(k(Right(a + 1))).as(None)) <-> F.pure(a)
    ),
    "async cancel token is unsequenced on complete" -> forAll((a: A, fu: F[Unit]) =>
      F.async[A](k => F.delay(k(Right(a))) >> F.pure(Some(fu))) <-> F.pure(a)
    ),
    "async cancel token is unsequenced on error" -> forAll((e: Throwable, fu: F[Unit]) =>
      F.async[A](k => F.delay(k(Left(e))) >> F.pure(Some(fu))) <-> F.raiseError(e)
    ),
    "never is derived from async" ->
      (F.never[A] <-> F.async[A](_ => F.pure(Some(F.unit)))),
    "executionContext commutativity" -> forAll((fa: F[A]) =>
      // Both sides on one runtime: each run has a context of its own.
      F.executionContext.flatMap(before => (fa *> F.executionContext).map(_ == before)) <->
        (F.executionContext <* fa).map(_ => true)
    ),
    "evalOn local pure" -> forAll((ec: ExecutionContext) =>
      F.evalOn(F.executionContext, ec) <-> F.evalOn(F.pure(ec), ec)
    ),
    "evalOn pure identity" -> forAll((a: A, ec: ExecutionContext) =>
      F.evalOn(F.pure(a), ec) <-> F.pure(a)
    ),
    "evalOn raiseError identity" -> forAll((e: Throwable, ec: ExecutionContext) =>
      F.evalOn(F.raiseError[Unit](e), ec) <-> F.raiseError[Unit](e)
    ),
    "evalOn canceled identity" -> forAll((ec: ExecutionContext) =>
      F.evalOn(F.canceled, ec) <-> F.canceled
    ),
    "evalOn never identity" -> forAll((ec: ExecutionContext) =>
      F.evalOn(F.never[Unit], ec) <-> F.never[Unit]
    ),
    "syncStep identity" -> forAll(
      rig.arbitraryEffect[A].arbitrary,
      Gen.choose(0, 200)
    )((fa: F[A], limit: Int) =>
      F.syncStep[F, A](fa, limit)(using F).flatMap {
        case Left(rest) => rest
        case Right(a) => F.pure(a)
      } <-> fa
    )
  )
