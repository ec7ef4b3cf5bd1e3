package weir.interop.cats.laws

import _root_.cats.Eq
import _root_.cats.effect.kernel.testkit.{AsyncGenerators, GenK, OutcomeGenerators}
import _root_.cats.effect.kernel.{Async, Outcome}
import org.scalacheck.{Arbitrary, Cogen, Gen}
import scala.concurrent.ExecutionContext
import scala.concurrent.duration.*

/** Generates programs of an effect for the laws, and runs them to see how they end. */
trait Rig[F[_]]:
  given effect: Async[F]

  /** Returns the outcome of `task`, or `Succeeded(None)` if it never ends. One more step follows
    * it, to notice a cancel that is pending at its end, as in Cats Effect's own runs.
    */
  def run[A](task: F[A]): Outcome[Option, Throwable, A]

  /** Contexts for `evalOn`. */
  def contexts: Gen[ExecutionContext]

  /** The lengths of sleeps in programs. */
  def durations: Gen[FiniteDuration]

  /** The time by which a program may go on later than it should. */
  def lateness: FiniteDuration

  def isMadeOf[A](task: F[A]): F[A] =
    effect.handleErrorWith(effect.flatMap(task)(effect.pure))(effect.raiseError)

  given eqEffect[A](using Eq[A]): Eq[F[A]] = Eq.instance((x, y) => Rig.same(run(x), run(y)))

  /** Functions of a program depend on how it ends. */
  protected def fingerprint[A: Cogen]: Cogen[F[A]] =
    OutcomeGenerators.cogenOutcome[Option, Throwable, A].contramap(run(_))

  given cogenEffect[A](using Cogen[A]): Cogen[F[A]] = fingerprint
  given Arbitrary[ExecutionContext] = Arbitrary(contexts)
  given Arbitrary[FiniteDuration] = Arbitrary(durations)

  given arbitraryEffect[A](using Arbitrary[A], Cogen[A]): Arbitrary[F[A]] =
    Arbitrary(
      new AsyncGenerators[F]:
        override val maxDepth = 6
        val arbitraryE: Arbitrary[Throwable] = Rig.arbitraryError
        val cogenE: Cogen[Throwable] = Rig.cogenError
        val F: Async[F] = effect
        val arbitraryEC: Arbitrary[ExecutionContext] = Arbitrary(contexts)
        val cogenFU: Cogen[F[Unit]] = cogenEffect[Unit]
        val arbitraryFD: Arbitrary[FiniteDuration] = Arbitrary(durations)

        // It shows which of two fibers was faster, so no law can hold with it.
        override def recursiveGen[B: Arbitrary: Cogen](deeper: GenK[F]) =
          super.recursiveGen[B](deeper).filterNot(_._1 == "racePair")
      .generators[A]
    )

/** An error that equals another one with the same number. */
final case class LawError(number: Int) extends RuntimeException(s"error $number", null, true, false)

object Rig:
  /** Functions do not look at the program: a run inside of the code of another one would wait for
    * the runtime to be quiet, which that one keeps busy.
    */
  def constant[A]: Cogen[A] = Cogen((seed, _) => seed)

  given arbitraryError: Arbitrary[Throwable] =
    Arbitrary(Arbitrary.arbitrary[Int].map(LawError(_)))
  given cogenError: Cogen[Throwable] = Cogen[String].contramap(_.toString)
  given Eq[Throwable] = Eq.fromUniversalEquals
  given Eq[ExecutionContext] = Eq.fromUniversalEquals

  def same[A](
      left: Outcome[Option, Throwable, A],
      right: Outcome[Option, Throwable, A]
  )(using eq: Eq[A]): Boolean = (left, right) match
    case (Outcome.Succeeded(Some(a)), Outcome.Succeeded(Some(b))) => eq.eqv(a, b)
    case _ => left == right
