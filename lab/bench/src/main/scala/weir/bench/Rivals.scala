package weir.bench

import java.util.concurrent.{Callable, ExecutorCompletionService, Executors}
import cats.effect.IO
import cats.effect.unsafe.IORuntime
import com.typesafe.config.ConfigFactory
import org.apache.pekko.actor.ActorSystem
import org.apache.pekko.stream.{Materializer, SystemMaterializer}
import scala.concurrent.duration.Duration
import scala.concurrent.{Await, Future}
import zio.{RuntimeFlag, Unsafe, ZIO}

/** Runs each rival from outside of it, in the way that its own documentation names for throughput.
  */
object Rivals:

  // Getting Started: "unsafeRunSync" with the global runtime is how to run an IO without an IOApp.
  // Tracing: "cached" is the default, and recommended in production, so it stays. To measure
  // without it, add -jvmArgsAppend -Dcats.effect.tracing.mode=none.
  def runCats[A](io: IO[A]): A = io.unsafeRunSync()(using IORuntime.global)

  // Release notes of ZIO 2.1.0-RC2: disabling FiberRoots "is recommended for high performance".
  // Lazy, so that its threads do not run beside another system that is measured.
  private lazy val zioRuntime = Unsafe.unsafely(
    zio.Runtime.unsafe.fromLayer(zio.Runtime.disableFlags(RuntimeFlag.FiberRoots))
  )

  // Reference, Runtime: how to run an effect without a ZIOApp.
  def runZio[A](effect: ZIO[Any, Throwable, A]): A =
    Unsafe.unsafely(zioRuntime.unsafe.run(effect).getOrThrowFiberFailure())

  // The runtime as it comes, with FiberRoots.
  def runZioDefault[A](effect: ZIO[Any, Throwable, A]): A =
    Unsafe.unsafely(zio.Runtime.default.unsafe.run(effect).getOrThrowFiberFailure())

  // Lazy, as ZIO's.
  private lazy val pekko = ActorSystem(
    "bench",
    ConfigFactory
      .parseString(
        "pekko { loglevel = off, stdout-loglevel = off, daemonic = on }"
      )
      .withFallback(ConfigFactory.load())
  )

  // Quick start: a graph is run by the materializer of an actor system, and gives a Future.
  def runPekko[A](run: Materializer => Future[A]): A =
    Await.result(run(SystemMaterializer(pekko).materializer), Duration.Inf)

  /** Calls each of `thunks` on a virtual thread of its own, and returns the sum of the results. */
  def threadEach(thunks: Vector[() => Int]): Long =
    val results = new Array[Int](thunks.size)
    val threads = new Array[Thread](thunks.size)
    var i = 0
    while i < threads.length do
      val index = i
      threads(i) = Thread.startVirtualThread(() => results(index) = thunks(index)())
      i += 1
    threads.foreach(_.join())
    total(results)

  /** The same, adding up the results in the order in which the threads end. */
  def threadEachUnordered(thunks: Vector[() => Int]): Long =
    val executor = Executors.newVirtualThreadPerTaskExecutor()
    try
      val completion = ExecutorCompletionService[Int](executor)
      thunks.foreach(thunk => completion.submit((() => thunk()): Callable[Int]))
      var sum = 0L
      var left = thunks.size
      while left > 0 do
        sum += completion.take().get
        left -= 1
      sum
    finally executor.close()

  /** Returns the sum of `values`. */
  def total(values: IterableOnce[Int]): Long =
    var sum = 0L
    val each = values.iterator
    while each.hasNext do sum += each.next()
    sum

  /** Returns the sum of 0, 1 and so on, `size` of them. */
  def totalBelow(size: Int): Long = size.toLong * (size - 1) / 2
