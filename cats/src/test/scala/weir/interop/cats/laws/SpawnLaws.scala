package weir.interop.cats.laws

import _root_.cats.Eq
import _root_.cats.effect.kernel.Outcome
import _root_.cats.syntax.all.*
import org.scalacheck.Prop
import org.scalacheck.Prop.forAll

/** The laws of Cats Effect's `GenSpawn`: see `EffectLaws`. */
final class SpawnLaws[F[_]](rig: Rig[F]):
  import Rig.given
  import rig.given
  private val F = rig.effect
  private type A = Int

  private given [X](using Eq[F[X]]): Eq[Outcome[F, Throwable, X]] =
    Outcome.eq[F, Throwable, X]

  extension [X](left: F[X])
    private def <->(right: F[X])(using eq: Eq[F[X]]): Prop =
      if eq.eqv(left, right) then Prop.proved
      else Prop.falsified :| s"left: ${rig.run(left)}, right: ${rig.run(right)}"

  private def bounded[X](fa: F[X]): F[X] = rig.isMadeOf(fa)

  def all: Seq[(String, Prop)] = Seq(
    "race derives from racePair (left)" -> forAll((fa: F[A]) =>
      F.race(fa, F.never[A]) <-> raced(fa, F.never[A])
    ),
    "race derives from racePair (right)" -> forAll((fb: F[A]) =>
      F.race(F.never[A], fb) <-> raced(F.never[A], fb)
    ),
    "race never non-canceled identity (left)" -> forAll((fa: F[A]) =>
      F.race(F.never[Unit], bounded(fa)) <->
        bounded(fa.flatMap(a => F.pure(a.asRight[Unit])))
    ),
    "race never non-canceled identity (right)" -> forAll((fa: F[A]) =>
      F.race(bounded(fa), F.never[Unit]) <-> bounded(fa.flatMap(a => F.pure(a.asLeft[Unit])))
    ),
    "fiber pure is completed pure" -> forAll((a: A) =>
      F.start(F.pure(a)).flatMap(_.join) <-> F.pure(Outcome.succeeded[F, Throwable, A](F.pure(a)))
    ),
    "fiber error is errored" -> forAll((e: Throwable) =>
      F.start(F.raiseError[Unit](e)).flatMap(_.join) <->
        F.pure(Outcome.errored[F, Throwable, Unit](e))
    ),
    "fiber cancelation is canceled" ->
      (F.start(F.never[Unit]).flatMap(f => f.cancel >> f.join) <-> canceled),
    "fiber canceled is canceled" -> (F.start(F.canceled).flatMap(_.join) <-> canceled),
    "fiber never is never" ->
      (F.start(F.never[Unit]).flatMap(_.join) <-> F.never[Outcome[F, Throwable, Unit]]),
    "fiber start of never is unit" -> (F.start(F.never[Unit]).void <-> F.unit),
    "fiber join is guaranteeCase" -> forAll((fa0: F[A], fin: F[Unit]) =>
      val fa = bounded(fa0)
      def told(outcome: Outcome[F, Throwable, A]): F[Unit] = outcome match
        case Outcome.Succeeded(_) => fin
        case _ => F.unit
      F.start(fa)
        .flatMap(_.join)
        .flatMap(oc => F.guarantee(oc.embed(F.canceled >> F.never[A]), told(oc))) <->
        F.guaranteeCase(fa)(told)
    ),
    "never dominates over flatMap" -> forAll((fa: F[A]) => (F.never[A] >> fa) <-> F.never[A]),
    "uncancelable race not inherited" ->
      (F.uncancelable(_ => F.race(F.never[Unit], F.canceled)).void <-> F.never[Unit]),
    "uncancelable canceled is canceled" ->
      (F.start(F.never[Unit])
        .flatMap(f => F.uncancelable(_ => f.cancel) >> f.join) <-> canceled),
    "uncancelable start is cancelable" ->
      (F.uncancelable(_ => F.start(F.never[Unit]).flatMap(f => f.cancel >> f.join)) <-> canceled),
    "forceR never is never" -> forAll((fa: F[A]) => F.forceR(F.never[A])(fa) <-> F.never[A])
  )

  private val canceled = F.pure(Outcome.canceled[F, Throwable, Unit])

  /** The definition of `race` by `racePair`. */
  private def raced[X, Y](fa: F[X], fb: F[Y]): F[Either[X, Y]] = F.uncancelable { poll =>
    def lost[Z](join: F[Outcome[F, Throwable, Z]]): F[Z] = join.flatMap {
      case Outcome.Succeeded(value) => value
      case Outcome.Errored(error) => F.raiseError(error)
      case Outcome.Canceled() => F.productR(poll(F.canceled))(F.never)
    }
    F.flatMap(F.racePair(fa, fb)) {
      case Left((Outcome.Succeeded(a), other)) => other.cancel >> a.map(Left(_))
      case Left((Outcome.Errored(error), other)) => other.cancel >> F.raiseError(error)
      case Left((Outcome.Canceled(), other)) => other.cancel >> lost(other.join).map(Right(_))
      case Right((other, Outcome.Succeeded(b))) => other.cancel >> b.map(Right(_))
      case Right((other, Outcome.Errored(error))) => other.cancel >> F.raiseError(error)
      case Right((other, Outcome.Canceled())) => other.cancel >> lost(other.join).map(Left(_))
    }
  }
