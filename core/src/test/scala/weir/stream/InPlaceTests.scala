package weir
package stream

import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import scala.concurrent.duration.*
import weir.runtime.{ExecutionThread, Job}

/** Streams whose consumer begins to run the effects of a `parEvalMap` at once. */
trait InPlaceTests extends StreamTests:
  override def limit: FiniteDuration = if Tier.isLong then 10.minutes else 30.seconds

  /** In place after the first ready effect, however long it has taken; again after as many as
    * `growth`.
    */
  def parEvalMap(stream: Stream[Int], limit: Int, buffer: Int = 8, growth: Int = 1)(
      f: Int => Task[Int]
  ): Stream[Int] =
    val erased = f.asInstanceOf[Any => Task[Any]]
    val rule = InPlace.Rule(stretch = 1, shortNanos = Long.MaxValue, growth)
    Stream.of(() =>
      ParEvalMapStage(stream.open(), limit, buffer, erased, ordered = true, rule = rule)
    )

  val endless: Stream[Int] = Stream.unfold(0)(i => Some((i, i + 1)))

  /** A stream whose effects are ready, until one of them runs in the consumer's loop. That one is
    * `effect(0)`; those of the elements behind it are `effect(1)`, `effect(2)` …
    */
  final class Scene(limit: Int, source: Stream[Int] = endless, growth: Int = 1)(
      effect: Int => Task[Int]
  ):
    private val consumer = AtomicReference[Job | Null](null)

    /** The first element in place; -1 before. */
    val first = AtomicInteger(-1)

    /** A runner may have the thread of the consumer, while that waits. */
    def isHere: Boolean = running eq consumer.get

    private def running: Job | Null = ExecutionThread.here.nn.running

    private def run(i: Int): Task[Int] =
      if isHere then first.compareAndSet(-1, i): Unit
      if first.get >= 0 && i >= first.get then effect(i - first.get) else Task(-1)

    /** The results of `effect`, after as many of -1 as there were elements before. */
    val stream: Stream[Int] = parEvalMap(source, limit, growth = growth)(run).map { i =>
      consumer.compareAndSet(null, running): Unit
      i
    }

    /** The results of `effect`. */
    val results: Stream[Int] = stream.dropWhile(_ == -1)
