package weir.bench.child.scale

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, ExecutionContext, Future}

import com.typesafe.config.ConfigFactory
import org.apache.pekko.actor.ActorSystem
import org.apache.pekko.stream.scaladsl.{Merge, Source}

import weir.lab.scale.ScaleRow

/** Pekko Streams on a dispatcher with `carriers` threads; the usual one has at least eight. */
private[scale] final class OnPekko(carriers: Int) extends ScaleSystem:
  private given system: ActorSystem = ActorSystem(
    "scale",
    ConfigFactory
      .parseString(s"""
        pekko { loglevel = off, stdout-loglevel = off, daemonic = on }
        pekko.actor.default-dispatcher.fork-join-executor {
          parallelism-min = $carriers
          parallelism-factor = 1
          parallelism-max = $carriers
        }""")
      .withFallback(ConfigFactory.load())
  )

  def run(load: Load): Option[() => Long] =
    sources(load)
      .lift(load.row)
      .map(source => () => Await.result(source.runFold(0L)(_ + _), Duration.Inf))

  private def sources(load: Load): PartialFunction[ScaleRow, Source[Int, Any]] =
    case ScaleRow.ParEvalMap0 =>
      Source(load.items).mapAsync(load.parallelism)(i => Future.successful(i))
    case ScaleRow.ParEvalMap1 | ScaleRow.ParEvalMap10 =>
      given ExecutionContext = system.dispatcher
      Source(load.items).mapAsync(load.parallelism)(i => Future(load.compute(i)))
    case ScaleRow.Merge =>
      // Pipelining and Parallelism: stages are concurrent only across an asynchronous boundary.
      val all = Vector.fill(load.fibers)(Source(load.items).map(load.compute).async)
      Source.combine(all)(Merge(_))
    case ScaleRow.ParJoin =>
      val each = Source(load.items).map(load.compute)
      Source(Vector.fill(load.fibers)(each)).flatMapMerge(load.fibers, identity)
