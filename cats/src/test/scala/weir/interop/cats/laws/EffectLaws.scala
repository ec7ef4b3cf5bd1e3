package weir.interop.cats.laws

import _root_.cats.Eq
import _root_.cats.effect.kernel.{Outcome, Sync}
import _root_.cats.effect.kernel.testkit.SyncTypeGenerators.given
import _root_.cats.laws.discipline.MonadErrorTests
import _root_.cats.laws.discipline.SemigroupalTests.Isomorphisms
import _root_.cats.syntax.all.*
import org.scalacheck.Prop.forAll
import org.scalacheck.Prop
import scala.concurrent.duration.FiniteDuration

/** The laws of Cats Effect's `Async` and of all that it inherits, under the names that they have
  * there, each as a property of random programs. They see the effect through its type class alone.
  *
  * Those of `MonadError` are cats-laws's. The others are written from Cats Effect's own
  * (`cats-effect-laws`, Apache-2.0), which is for another version of its libraries.
  */
final class EffectLaws[F[_]](rig: Rig[F]):
  import Rig.given
  import rig.given
  private val F = rig.effect
  private type A = Int
  private type B = Int

  def all: Seq[(String, Prop)] = monadError ++ ofCatsEffect

  def ofCatsEffect: Seq[(String, Prop)] =
    monadCancel ++ spawn ++ temporal ++ clock ++ sync ++ async

  // ---- what a law is ----

  extension [X](left: F[X])
    private def <->(right: F[X])(using eq: Eq[F[X]]): Prop =
      if eq.eqv(left, right) then Prop.proved
      else Prop.falsified :| s"left: ${rig.run(left)}, right: ${rig.run(right)}"

  private def holds(program: F[Boolean]): Prop =
    Prop(rig.run(program) == Outcome.Succeeded(Some(true)))

  /** Both sides tell a time. It may be as much later on the left as the effect's clock may. */
  private def sameTime(left: F[FiniteDuration], right: F[FiniteDuration]): Prop =
    def elapsed(side: F[FiniteDuration]) = F.monotonic.flatMap(before => side.map(_ - before))
    val (l, r) = (rig.run(elapsed(left)), rig.run(elapsed(right)))
    (l, r) match
      case (Outcome.Succeeded(Some(late)), Outcome.Succeeded(Some(due))) =>
        Prop(late >= due - rig.lateness && late <= due + rig.lateness) :| s"$late, $due"
      case _ => Prop.falsified :| s"left: $l, right: $r"

  private def monadError: Seq[(String, Prop)] =
    given Isomorphisms[F] = Isomorphisms.invariant[F](using F)
    MonadErrorTests[F, Throwable](using F).monadError[Int, Int, Int].all.properties.toSeq.map {
      (name, prop) => (name.stripPrefix("monadError."), prop)
    }

  private def clock = Seq(
    "monotonicity" -> holds((F.monotonic, F.monotonic).mapN(_ <= _)),
    "uniqueness" -> holds((F.unique, F.unique).mapN(_ != _))
  )

  private def monadCancel = Seq(
    "guarantee is guaranteeCase" -> forAll((fa: F[A], fin: F[Unit]) =>
      F.guarantee(fa, fin) <-> F.guaranteeCase(fa)(_ => fin)
    ),
    "uncancelable poll is identity" -> forAll((fa: F[A]) =>
      F.uncancelable(poll => poll(fa)) <-> fa
    ),
    "uncancelable ignored poll eliminates nesting" -> forAll((fa: F[A]) =>
      F.uncancelable(_ => F.uncancelable(_ => fa)) <-> F.uncancelable(_ => fa)
    ),
    "uncancelable poll inverse nest is uncancelable" -> forAll((fa: F[A]) =>
      F.uncancelable(op => F.uncancelable(ip => op(ip(fa)))) <-> F.uncancelable(_ => fa)
    ),
    "uncancelable eliminates onCancel" -> forAll((fa: F[A], fin: F[Unit]) =>
      F.uncancelable(_ => F.onCancel(fa, fin)) <-> F.uncancelable(_ => fa)
    ),
    "onCancel associates over uncancelable boundary" -> forAll((fa: F[A], fin: F[Unit]) =>
      F.uncancelable(_ => F.onCancel(fa, fin)) <-> F.onCancel(F.uncancelable(_ => fa), fin)
    ),
    "onCancel implies uncancelable" -> forAll((fa: F[A], fin1: F[Unit], fin2: F[Unit]) =>
      F.onCancel(F.onCancel(fa, F.uncancelable(_ => fin1)), fin2) <->
        F.onCancel(F.onCancel(fa, fin1), fin2)
    ),
    "forceR discards pure" -> forAll((a: A, fa: F[B]) => F.forceR(F.pure(a))(fa) <-> fa),
    "forceR discards error" -> forAll((e: Throwable, fa: F[A]) =>
      F.forceR(F.raiseError[A](e))(fa) <-> fa
    ),
    "forceR canceled short-circuits" -> forAll((fa: F[A]) =>
      F.forceR(F.canceled)(fa) <-> F.productR(F.canceled)(fa)
    ),
    "forceR associativity" -> forAll((fa: F[A], fb: F[A], fc: F[A]) =>
      F.forceR(fa)(F.forceR(fb)(fc)) <-> F.forceR(F.forceR(fa)(fb))(fc)
    ),
    "uncancelable finalizers" -> forAll((fin: F[Unit]) =>
      F.onCancel(F.canceled, F.uncancelable(_ => fin)) <-> F.onCancel(F.canceled, fin)
    ),
    "canceled sequences onCancel in order" -> forAll((fin1: F[Unit], fin2: F[Unit]) =>
      F.onCancel(F.onCancel(F.canceled, fin1), fin2) <->
        F.forceR(F.uncancelable(_ => F.forceR(fin1)(fin2)))(F.canceled)
    ),
    "uncancelable canceled associates right over flatMap attempt" -> forAll((fa: F[A]) =>
      (F.uncancelable(_ => F.canceled >> fa).attempt >> F.unit) <->
        F.forceR(F.uncancelable(_ => fa))(F.canceled)
    ),
    "canceled associates left over flatMap" -> forAll((fa: F[A]) =>
      (F.canceled >> fa.void) <-> F.canceled
    )
  )

  private def temporal = Seq(
    "monotonic sleep sum identity" -> forAll((delta: FiniteDuration) =>
      sameTime(F.sleep(delta) >> F.monotonic, F.monotonic.map(delta + _))
    ),
    "sleep race minimum" -> forAll((d1: FiniteDuration, d2: FiniteDuration) =>
      sameTime(F.race(F.sleep(d1), F.sleep(d2)) >> F.monotonic, F.monotonic.map(d1.min(d2) + _))
    ),
    "start sleep maximum" -> forAll((d1: FiniteDuration, d2: FiniteDuration) =>
      sameTime(
        F.start(F.sleep(d1)).flatMap(f => F.sleep(d2) >> f.join) >> F.monotonic,
        F.monotonic.map(d1.max(d2) + _)
      )
    )
  )

  private def sync = Seq(
    "suspend value is pure" -> forAll((a: A, hint: Sync.Type) => F.suspend(hint)(a) <-> F.pure(a)),
    "suspend throw is raiseError" -> forAll((e: Throwable, hint: Sync.Type) =>
      F.suspend[A](hint)(throw e) <-> F.raiseError(e)
    ),
    "unsequenced suspend is no-op" -> forAll((a: A, f: A => A, hint: Sync.Type) =>
      F.delay {
        var current = a
        val _ = F.suspend(hint) { current = f(current) }
        F.delay(current)
      }.flatten <-> F.delay(F.delay(a)).flatten
    ),
    "repeated suspend is not memoized" -> forAll((a: A, f: A => A, hint: Sync.Type) =>
      F.delay {
        var current = a
        val change = F.suspend(hint) { current = f(current); current }
        change >> change
      }.flatten <-> F.delay(F.suspend(hint)(f(f(a)))).flatten
    )
  )

  private def spawn = SpawnLaws(rig).all
  private def async = AsyncLaws(rig).all
